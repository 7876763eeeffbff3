// The first messages of a client, answered before the SDK, the tools and the engine are loaded:
// 1. each line is parsed; `initialize`, `notifications/initialized` and `tools/list` in their usual form are answered,
// 2. the greeting ends at any other message, after the answer to `tools/list`, at the end of stdin, or after
//    `patienceMs`,
// 3. all input is then put back and read again by the complete server, which drops its replies to `answered` requests.
// Any unusual message is left to the complete server, so that errors and other replies have a single implementation.
import { Readable } from 'node:stream';
import { isObject } from '../../support/is-object.ts';
import type { Greeted, Greeting, Io } from '../door.ts';
import { capabilities, serverInfo } from './introduce.ts';
import { patienceOf } from './patient-clients.ts';
import { replyShapeFor } from './reply-for.ts';
import { type InputLine, splitLines } from './split-lines.ts';
import { toListedTool } from './to-listed-tool.ts';

// A client that requests the tools does so at once. Later messages wait until the complete server is loaded.
const patienceMs = 200;
const maxLineBytes = 65_536;
const newline = 0x0a;

/** Answers the first messages on stdin. */
export function greet(io: Io, greeting: Greeting, version: string): Promise<Greeted> {
  return new Promise((resolve) => {
    const { stdin, stdout, interrupted } = io;
    const seen: Buffer[] = [];
    const host = createHost(greeting, version, (reply) => void stdout.write(`${JSON.stringify(reply)}\n`));
    let isDone = false;
    let isAtEnd = false;
    const finish = (isAnswered: boolean) => {
      if (isDone) return;
      isDone = true;
      clearTimeout(timer);
      stdin.off('data', onData).off('end', onEnd);
      interrupted.removeEventListener('abort', onAbort);
      const bytes = Buffer.concat(seen);
      const isOver = isAnswered && bytes.at(-1) === newline;
      resolve({ stdin: putBack(stdin, bytes, isAtEnd), ...host.result(), isOver });
    };
    const onAbort = () => finish(false);
    const onEnd = () => {
      isAtEnd = true;
      void turn.then(() => finish(true));
    };
    // Lines are answered in turn, because the instructions are computed asynchronously.
    let turn = Promise.resolve();
    const split = splitLines(maxLineBytes, (line) => {
      turn = turn.then(async () => {
        if (!isDone && !(await host.answer(line))) finish(false);
      });
    });
    const onData = (chunk: Buffer) => {
      seen.push(chunk);
      split(chunk);
      if (chunk.length > maxLineBytes) finish(false);
    };
    const timer = setTimeout(onAbort, patienceMs);
    interrupted.addEventListener('abort', onAbort, { once: true });
    stdin.on('data', onData).on('end', onEnd);
    if (interrupted.aborted || stdin.destroyed) finish(false);
  });
}

function putBack(stdin: Readable, bytes: Buffer, hasEnded: boolean): Readable {
  if (hasEnded) return Readable.from(bytes);
  stdin.pause();
  if (bytes.length > 0) stdin.unshift(bytes);
  return stdin;
}

/** Answers single lines; `answer` returns false if the complete server has to take over. */
function createHost(greeting: Greeting, version: string, send: (reply: object) => void) {
  const answered = new Set<string | number>();
  let client: string | undefined;
  let introduced: string | undefined;
  const reply = (id: string | number, result: object) => {
    answered.add(id);
    send({ result, jsonrpc: '2.0', id });
  };
  return {
    result: () => ({ answered, introduced }),
    async answer(line: InputLine): Promise<boolean> {
      const message = parse(line);
      if (message === undefined) return false;
      if (message.method === 'initialize' && client === undefined) {
        client = message.client;
        introduced = await greeting.instructions(patienceOf(client));
        reply(message.id, {
          protocolVersion: message.protocolVersion,
          capabilities,
          serverInfo: serverInfo(version),
          instructions: introduced,
        });
        return true;
      }
      if (client === undefined || message.method === 'initialize') return false;
      if (message.method === 'notifications/initialized') return true;
      const tools = greeting.list(patienceOf(client));
      const shape = replyShapeFor(client, greeting.reply);
      if (tools !== undefined) reply(message.id, { tools: tools.map((tool) => toListedTool(tool, shape)) });
      return false;
    },
  };
}

/** The messages that are answered here. */
export type FirstMessage =
  | {
      readonly method: 'initialize';
      readonly id: string | number;
      readonly client: string;
      readonly protocolVersion: string;
    }
  | { readonly method: 'notifications/initialized' }
  | { readonly method: 'tools/list'; readonly id: string | number };

// Revisions whose handshake is `initialize`; a client that asks for another one is answered by the SDK.
const revisions: readonly unknown[] = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'];

/** A line in the usual form of a first message; undefined for anything else. */
function parse(line: InputLine): FirstMessage | undefined {
  if (line.kind !== 'whole') return undefined;
  const text = line.bytes.toString();
  if (text.includes('\uFFFD')) return undefined;
  try {
    return toFirstMessage(JSON.parse(text));
  } catch {
    return undefined;
  }
}

function toFirstMessage(value: unknown): FirstMessage | undefined {
  if (!isObject(value) || value.jsonrpc !== '2.0') return undefined;
  const { method, id, params = {} } = value;
  const isKnown = hasOnly(value, ['jsonrpc', 'method', 'id', 'params']);
  if (!isKnown || !isObject(params)) return undefined;
  if (method === 'notifications/initialized')
    return id === undefined && hasOnly(params, []) ? { method } : undefined;
  if (typeof id !== 'string' && !Number.isSafeInteger(id)) return undefined;
  const request = { id: id as string | number };
  if (method === 'tools/list') return hasOnly(params, []) ? { ...request, method } : undefined;
  return method === 'initialize' ? toInitialize(request.id, params) : undefined;
}

type Fields = Readonly<Record<string, unknown>>;

function toInitialize(id: string | number, params: Fields): FirstMessage | undefined {
  const { protocolVersion, capabilities: offered, clientInfo } = params;
  if (!hasOnly(params, ['protocolVersion', 'capabilities', 'clientInfo'])) return undefined;
  if (!revisions.includes(protocolVersion) || !isObject(offered) || !isObject(clientInfo)) return undefined;
  if (!hasOnly(clientInfo, ['name', 'title', 'version', 'description', 'websiteUrl'])) return undefined;
  const { name, version } = clientInfo;
  const isText = Object.values(clientInfo).every((part) => typeof part === 'string');
  if (!isText || typeof name !== 'string' || name === '' || name.length > 100 || version === undefined)
    return undefined;
  if (!areUsual(offered)) return undefined;
  return { method: 'initialize', id, client: name, protocolVersion: String(protocolVersion) };
}

// The details of a capability that a client may send; all of them are empty objects or switches.
const usualCapabilities: Readonly<Record<string, readonly string[]>> = {
  roots: ['listChanged'],
  sampling: [],
  elicitation: ['form', 'url'],
};

function areUsual(offered: Fields): boolean {
  return Object.entries(offered).every(([name, details]) => {
    const known = Object.hasOwn(usualCapabilities, name) ? usualCapabilities[name] : undefined;
    if (known === undefined || !isObject(details) || !hasOnly(details, known)) return false;
    return Object.entries(details).every(([key, value]) =>
      key === 'listChanged' ? typeof value === 'boolean' : isObject(value) && hasOnly(value, []),
    );
  });
}

function hasOnly(fields: Fields, names: readonly string[]): boolean {
  return Object.keys(fields).every((name) => names.includes(name));
}
