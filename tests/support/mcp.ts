import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client, type ClientOptions, ProtocolError } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import type { SchemaObject, ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { parse } from 'yaml';
import { builtCli } from './build.ts';
import { collect, createPlace, endKept, sleep, startReal, survivors } from './nacre.ts';

/** Protocol revisions with an initialization handshake, and, since 2026-07-28, without one. */
export const eras = ['2025-06-18', '2025-11-25', '2026-07-28'] as const;

/** One of `eras`. */
export type Era = (typeof eras)[number];

/** A user's answer to an approval request. */
export interface UserAnswer {
  readonly action: 'accept' | 'decline' | 'cancel';
  readonly content?: Record<string, boolean>;
}

/** Options of `connect`. */
export interface ServerOptions {
  readonly era?: Era;
  /** `clientInfo.name`, `tester` by default. */
  readonly name?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly args?: readonly string[];
  /** The text of the user's settings file. */
  readonly userFile?: string;
  /** Answers approval requests in place of the client's user. */
  readonly answer?: (message: string) => UserAnswer | Promise<UserAnswer>;
  /** Returns the URIs of the client's roots; called for each `roots/list` request. */
  readonly roots?: () => readonly string[] | Promise<readonly string[]>;
}

/** The reply of a tool. */
export interface Answer {
  readonly text: string;
  readonly structured: Readonly<Record<string, unknown>>;
  readonly isError: boolean;
}

/** Starts the built server and connects the official client to it over stdio. */
export async function connect({
  era = '2025-11-25',
  name = 'tester',
  env = {},
  args = [],
  userFile,
  answer,
  roots,
}: ServerOptions = {}) {
  const place = createPlace(env);
  if (userFile !== undefined) writeUserFile(place.cwd, userFile);
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [builtCli, 'mcp', ...args],
    env: { ...place.env },
    cwd: place.cwd,
    stderr: 'pipe',
  });
  const stderr = collect(transport.stderr as Parameters<typeof collect>[0]);
  const capabilities = { ...(answer && { elicitation: {} }), ...(roots && { roots: { listChanged: true } }) };
  const client = new Client({ name, version: '1.0.0' }, { ...toOptions(era), capabilities });
  if (answer)
    client.setRequestHandler('elicitation/create', async ({ params }) => ({
      ...(await answer(params.message)),
    }));
  if (roots)
    client.setRequestHandler('roots/list', async () => ({ roots: (await roots()).map((uri) => ({ uri })) }));
  await client.connect(transport);
  const check = createCheck(client);
  const use = async (tool: string, args: Record<string, unknown>, options = {}): Promise<Answer> => {
    const result = await client.callTool({ name: tool, arguments: args }, options);
    const content = result.content as { type: string; text: string }[];
    const [first] = content;
    const isError = result.isError === true;
    if (isError !== (result.structuredContent === undefined))
      throw new Error(`A reply of ${tool} has data exactly if it failed: ${JSON.stringify(result)}`);
    const structured = dataOf(result, tool);
    await check(tool, structured);
    return { text: first?.text ?? '', structured, isError };
  };
  const call = (args: Record<string, unknown>, options = {}) => use('execute_command', args, options);
  const pid = transport.pid ?? 0;
  return {
    ...place,
    pid,
    client,
    /** Calls any tool. */
    use,
    call,
    stderr: stderr.text,
    /** Closes the connection and returns the pids of processes that the server left running. */
    async close(): Promise<number[]> {
      await client.close();
      await endKept(place);
      return survivors(place.mark);
    },
  };
}

/** The data of a result. A failed call has only texts: YAML, JSON as the second text of `shell_execute`, or a sentence. */
export function dataOf(
  result: { readonly content?: unknown; readonly structuredContent?: unknown } | undefined,
  tool = 'execute_command',
): Record<string, unknown> {
  if (result?.structuredContent !== undefined) return result.structuredContent as Record<string, unknown>;
  const [first, second] = (result?.content ?? []) as readonly { readonly text: string }[];
  if (tool === 'shell_execute') return JSON.parse(second?.text ?? '{}');
  return /^[A-Z]/.test(tool) ? { error: first?.text } : parse(first?.text ?? '');
}

/** Validates replies against the server's output schemas; the client itself does not check error replies. */
function createCheck(client: Client) {
  let listed: ReturnType<Client['listTools']> | undefined;
  return async (name: string, structured: unknown) => {
    listed ??= client.listTools();
    const tool = (await listed).tools.find((one) => one.name === name);
    const valid = toValidator(tool?.outputSchema as SchemaObject);
    if (!valid(structured))
      throw new Error(
        `A reply of ${name} does not match its schema: ${JSON.stringify([valid.errors, structured])}`,
      );
  };
}

const validators = new Map<string, ValidateFunction>();

/** Compiles a schema once, since Ajv takes longer for that than for a hundred replies. */
function toValidator(schema: SchemaObject): ValidateFunction {
  const key = JSON.stringify(schema);
  const valid = validators.get(key) ?? new Ajv2020().compile(schema);
  validators.set(key, valid);
  return valid;
}

function writeUserFile(home: string, text: string): void {
  mkdirSync(join(home, '.config', 'nacre'), { recursive: true });
  writeFileSync(join(home, '.config', 'nacre', 'config.yaml'), text);
}

function toOptions(era: Era): ClientOptions {
  return era === '2026-07-28'
    ? { versionNegotiation: { mode: { pin: era } } }
    : { supportedProtocolVersions: [era] };
}

/** A JSON-RPC message. */
export interface Message {
  readonly id?: number | string | null;
  readonly method?: string;
  readonly params?: Readonly<Record<string, unknown>>;
  readonly result?: Readonly<Record<string, unknown>> & { structuredContent?: Record<string, unknown> };
  readonly error?: { code: number; message: string };
}

/** Starts the built server and exchanges raw JSON-RPC lines with it. */
export async function openRaw(env: Readonly<Record<string, string>> = {}, version = '2025-06-18') {
  const place = createPlace({ ALLOWED_COMMANDS: '*', ...env });
  const child = startReal(['mcp'], place);
  return { ...place, child, ...(await converse(child, version)) };
}

async function converse(child: ChildProcessWithoutNullStreams, version: string) {
  const [out, err] = [collect(child.stdout), collect(child.stderr)];
  const messages = (): Message[] =>
    out
      .text()
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as Message);
  const send = (line: unknown) =>
    child.stdin.write(Buffer.isBuffer(line) || typeof line === 'string' ? line : `${JSON.stringify(line)}\n`);
  const answer = async (id: number | string, limitMs = 10_000): Promise<Message> => {
    for (let waited = 0; waited < limitMs; waited += 10) {
      const found = messages().find((message) => message.id === id);
      if (found) return found;
      await sleep(10);
    }
    throw new Error(`No response to request ${id}. stderr: ${err.text()}`);
  };
  let next = 1_000;
  const call = (args: unknown, params = {}) => {
    const id = next++;
    send({
      jsonrpc: '2.0',
      id,
      method: 'tools/call',
      params: { name: 'execute_command', arguments: args, ...params },
    });
    return answer(id);
  };
  send({
    jsonrpc: '2.0',
    id: 0,
    method: 'initialize',
    params: { protocolVersion: version, capabilities: {}, clientInfo: { name: 'raw', version: '1' } },
  });
  const hello = await answer(0);
  send({ jsonrpc: '2.0', method: 'notifications/initialized' });
  return { hello, messages, send, answer, call, stderr: err.text, stdout: out.text };
}

/** The `ProtocolError` that a promise rejects with; throws for any other result. */
export async function protocolError(promise: Promise<unknown>): Promise<ProtocolError> {
  const error = await promise.then(
    () => new Error('The promise resolved.'),
    (reason: unknown) => reason,
  );
  if (error instanceof ProtocolError) return error;
  throw error;
}
