// A test client for `nacre doctor`. It is in src/worker because only code there may spawn processes. It starts a server
// as an MCP client would (stdio), calls `initialize` and `tools/list`, runs a harmless command, and ends the server.
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { type ServerTrial, trialClient } from '../../contract/report.ts';
import { createStopwatch } from '../../support/timing.ts';

/** How `tryServer` starts a server. */
export interface ServerStart {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
}

interface RpcResponse {
  readonly id?: unknown;
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly message?: unknown };
}

type RpcCall = (method: string, params: object) => Promise<Readonly<Record<string, unknown>>>;

const harmlessCommands: Readonly<Record<string, string>> = {
  execute_command: 'echo nacre',
  shell_execute: 'echo nacre',
  Bash: 'echo nacre',
};

function commandFor(tool: string): string | undefined {
  return Object.entries(harmlessCommands).find(([name]) => tool.endsWith(name))?.[1];
}

/** Time limits of `tryServer`. */
export interface TrialLimits {
  /** For each answer. */
  readonly answerMs: number;
  /** For the exit after stdin is closed; then the server gets SIGKILL. */
  readonly exitMs: number;
}

/** Tests a server; rejects with an `Error` that names the request that failed. */
export async function tryServer(
  start: ServerStart,
  { answerMs, exitMs }: TrialLimits = { answerMs: 30_000, exitMs: 5_000 },
): Promise<ServerTrial> {
  const child = spawn(start.command, [...start.args], { env: { ...start.env }, cwd: start.cwd });
  const stderr: Buffer[] = [];
  child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk));
  child.stdin.on('error', () => {});
  const ended = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('close', (code, signal) => resolve(`it ended with ${signal ?? code}`));
  });
  try {
    return await callTools(child, createRpc(child, ended, answerMs));
  } catch (error) {
    const text = Buffer.concat(stderr).toString('utf8').trim().slice(0, 1_000);
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(text === '' ? reason : `${reason}; it said: ${text}`);
  } finally {
    child.stdin.end();
    const kill = setTimeout(() => child.kill('SIGKILL'), exitMs);
    await ended;
    clearTimeout(kill);
  }
}

async function callTools(child: ChildProcessWithoutNullStreams, call: RpcCall): Promise<ServerTrial> {
  const elapsed = createStopwatch();
  const hello = await call('initialize', {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: trialClient, version: '1' },
  });
  child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })}\n`);
  const { tools = [] } = (await call('tools/list', {})) as { tools?: { name: string }[] };
  const names = tools.map(({ name }) => name);
  // A name may have the prefix of the setting `tool_prefix`.
  const tool = names.find((name) => commandFor(name) !== undefined);
  const request = tool && {
    name: tool,
    arguments: { command: commandFor(tool) },
    _meta: { 'nacre/details': true },
  };
  const reply = request ? await call('tools/call', request) : {};
  const { 'nacre/code': code } = { 'nacre/code': undefined, ...(reply._meta ?? {}) };
  const text = textOf(reply);
  const ran = /^[ \t]{0,40}nacre$|"nacre|\bnacre\n/m.test(text) && reply.isError !== true;
  return {
    protocol: String(hello.protocolVersion),
    tools: names,
    ran,
    text: ran ? '' : toSentence(text),
    code: ran || code === undefined ? undefined : String(code),
    durationMs: Math.round(elapsed()),
  };
}

function createRpc(child: ChildProcessWithoutNullStreams, ended: Promise<string>, limitMs: number): RpcCall {
  const pending = new Map<unknown, (response: RpcResponse) => void>();
  createInterface({ input: child.stdout }).on('line', (line) => {
    const response = parse(line);
    pending.get(response?.id)?.(response ?? {});
  });
  let lastId = 0;
  return async (method, params) => {
    const id = ++lastId;
    const responded = new Promise<RpcResponse>((resolve) => pending.set(id, resolve));
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    let timer: NodeJS.Timeout | undefined;
    const timedOut = new Promise<string>((resolve) => {
      timer = setTimeout(() => resolve(`there was no answer within ${limitMs} ms`), limitMs);
    });
    const response = await Promise.race([responded, ended, timedOut]);
    clearTimeout(timer);
    if (typeof response === 'string') throw new Error(`${method}: ${response}`);
    if (response.result === undefined) throw new Error(`${method}: ${String(response.error?.message)}`);
    return response.result;
  };
}

function parse(line: string): RpcResponse | undefined {
  try {
    return JSON.parse(line) as RpcResponse;
  } catch {
    return undefined;
  }
}

// The terminal tools reply with YAML, in which the sentence is a quoted string after `error`.
function toSentence(text: string): string {
  const [, quoted = ''] = /^error: (".*")$/m.exec(text) ?? [];
  return quoted === '' ? text : String(JSON.parse(quoted));
}

function textOf({ content }: Readonly<Record<string, unknown>>): string {
  const [first] = Array.isArray(content) ? (content as { text?: unknown }[]) : [];
  return typeof first?.text === 'string' ? first.text : '';
}
