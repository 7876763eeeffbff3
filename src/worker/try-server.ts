// One call over MCP on stdio, as a client makes it: the server is started, asked who it is and what it offers, told to
// run a harmless command, and ended.
import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { type ServerTrial, trialClient } from '../contract/report.ts';
import { createStopwatch } from '../support/stopwatch.ts';

/** How a server is started. */
export interface ServerStart {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
}

interface Answer {
  readonly id?: unknown;
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly message?: unknown };
}

const endMs = 5_000;
const harmless: Readonly<Record<string, string>> = {
  execute_command: 'echo nacre',
  shell_execute: 'echo nacre',
  Bash: 'echo nacre',
};

/** Makes one call to a server; rejects with an `Error` that says at which step it did not answer. */
export async function tryServer(start: ServerStart, limitMs = 30_000): Promise<ServerTrial> {
  const elapsed = createStopwatch();
  const child = spawn(start.command, [...start.args], { env: { ...start.env }, cwd: start.cwd });
  const said: Buffer[] = [];
  child.stderr.on('data', (chunk: Buffer) => said.push(chunk));
  child.stdin.on('error', () => {});
  const ended = new Promise<string>((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('close', (code, signal) => resolve(`it ended with ${signal ?? code}`));
  });
  try {
    return await converse(child, ended, limitMs, elapsed);
  } catch (error) {
    const words = Buffer.concat(said).toString('utf8').trim().slice(0, 1_000);
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(words === '' ? reason : `${reason}; it said: ${words}`);
  } finally {
    child.stdin.end();
    const kill = setTimeout(() => child.kill('SIGKILL'), endMs);
    await ended;
    clearTimeout(kill);
  }
}

async function converse(
  child: ChildProcessWithoutNullStreams,
  ended: Promise<string>,
  limitMs: number,
  elapsed: () => number,
): Promise<ServerTrial> {
  const ask = createConversation(child, ended, limitMs);
  const hello = await ask('initialize', {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: trialClient, version: '1' },
  });
  child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })}\n`);
  const { tools = [] } = (await ask('tools/list', {})) as { tools?: { name: string }[] };
  const names = tools.map(({ name }) => name);
  const tool = names.find((name) => Object.hasOwn(harmless, name));
  const asked = tool && { name: tool, arguments: { command: harmless[tool] } };
  const reply = asked ? await ask('tools/call', asked) : {};
  const { error } = { error: undefined, ...(reply.structuredContent as { error?: unknown } | undefined) };
  const text = textOf(reply);
  const ran = /^\s*nacre$|"nacre|\bnacre\n/m.test(text) && reply.isError !== true;
  return {
    protocol: String(hello.protocolVersion),
    tools: names,
    ran,
    text: ran ? '' : String(error ?? text),
    durationMs: Math.round(elapsed()),
  };
}

function createConversation(
  child: ChildProcessWithoutNullStreams,
  ended: Promise<string>,
  limitMs: number,
): (method: string, params: object) => Promise<Readonly<Record<string, unknown>>> {
  const waiting = new Map<unknown, (answer: Answer) => void>();
  createInterface({ input: child.stdout }).on('line', (line) => {
    const answer = parse(line);
    waiting.get(answer?.id)?.(answer ?? {});
  });
  let next = 0;
  return async (method, params) => {
    const id = ++next;
    const answered = new Promise<Answer>((resolve) => waiting.set(id, resolve));
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<string>((resolve) => {
      timer = setTimeout(() => resolve(`there was no answer within ${limitMs} ms`), limitMs);
    });
    const answer = await Promise.race([answered, ended, late]);
    clearTimeout(timer);
    if (typeof answer === 'string') throw new Error(`${method}: ${answer}`);
    if (answer.result === undefined) throw new Error(`${method}: ${String(answer.error?.message)}`);
    return answer.result;
  };
}

function parse(line: string): Answer | undefined {
  try {
    return JSON.parse(line) as Answer;
  } catch {
    return undefined;
  }
}

function textOf({ content }: Readonly<Record<string, unknown>>): string {
  const [first] = Array.isArray(content) ? (content as { text?: unknown }[]) : [];
  return typeof first?.text === 'string' ? first.text : '';
}
