// JSON-RPC over stdin and stdout, one message per line:
// 1. `splitLines` cuts stdin into lines, 2. a line that is not a valid message gets an error reply if it has an id, and a
// warning on stderr, 3. a message goes to the SDK, 4. a message from the SDK is written as one line.
// The SDK's own transport does not reply to malformed requests, accepts broken UTF-8, and disconnects on a long message.
import { isUtf8 } from 'node:buffer';
import {
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResponse,
  type JSONRPCMessage,
  ProtocolErrorCode,
  type Transport,
} from '@modelcontextprotocol/server';
import { isObject } from '../../support/is-object.ts';
import type { Io } from '../door.ts';
import { type InputLine, splitLines } from './split-lines.ts';

// This limit is larger than any valid tool input, so that the tool itself can report which field is too long.
const maxMessageBytes = 24 * 1024 * 1024;

type Id = string | number;
// JSON-RPC answers a request whose id is not valid with null.
type ReplyId = Id | null;

/** Creates the transport of one connection; invalid input does not close it. Replies to `answered` requests are dropped. */
export function createStdioTransport(
  { stdin, stdout }: Pick<Io, 'stdin' | 'stdout'>,
  answered: Set<Id> = new Set(),
): Transport {
  const write = (message: object) => void stdout.write(`${JSON.stringify(message)}\n`);
  const refuse = (ids: readonly ReplyId[], code: number, message: string) => {
    for (const id of ids) write({ jsonrpc: '2.0', id, error: { code, message } });
    transport.onerror?.(new Error(message));
  };
  const receiveLine = (line: InputLine) => {
    if (line.kind === 'too_long') return refuse(idsAtEnds(line), ProtocolErrorCode.InvalidRequest, tooLong);
    const text = line.bytes.toString().trim();
    if (text === '') return;
    const value = parseJson(text);
    if (value === undefined) return refuse([], ProtocolErrorCode.ParseError, notJson);
    if (!isUtf8(line.bytes)) return refuse(idsOf(value), ProtocolErrorCode.ParseError, notUtf8);
    if (!isMessage(value))
      return refuse(idsOf(value), ProtocolErrorCode.InvalidRequest, findMessageProblem(value));
    const problem = findCallProblem(value);
    if (problem !== undefined) return refuse(idsOf(value), ProtocolErrorCode.InvalidParams, problem);
    transport.onmessage?.(value);
  };
  const onData = splitLines(maxMessageBytes, receiveLine);

  const transport: Transport = {
    async start() {
      stdin.on('data', onData);
      stdin.resume();
    },
    // Does not wait for `drain`: a client that stops reading must not keep the server from exiting.
    async send(message) {
      if (!('id' in message && !('method' in message) && answered.delete(message.id as Id))) write(message);
    },
    async close() {
      stdin.off('data', onData);
      transport.onclose?.();
    },
  };
  return transport;
}

const tooLong = `The message is longer than ${maxMessageBytes} bytes. Nothing was run.`;
const notJson = 'A line is not valid JSON.';
const notUtf8 = 'The message is not valid UTF-8. Nothing was run.';

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isMessage(value: unknown): value is JSONRPCMessage {
  return isJSONRPCRequest(value) || isJSONRPCNotification(value) || isJSONRPCResponse(value);
}

function findMessageProblem(value: unknown): string {
  if (Array.isArray(value)) return 'Batches are not supported: send one message per line. Nothing was run.';
  const { jsonrpc, method, params, id } = toFields(value);
  const problem =
    (jsonrpc !== '2.0' && 'jsonrpc must be "2.0"') ||
    (typeof method !== 'string' && 'method must be a string') ||
    (id !== undefined && !isId(id) && 'id must be a string or a whole number') ||
    (params !== undefined && !isObject(params) && 'params must be an object') ||
    'it has unknown fields, or invalid params';
  return `The message is not valid JSON-RPC: ${problem}. Nothing was run.`;
}

// The transport checks this, because the SDK would reply with the raw issues of its zod schema.
function findCallProblem(message: unknown): string | undefined {
  const { method, params } = toFields(message);
  if (method !== 'tools/call') return undefined;
  const { name, arguments: args } = toFields(params);
  if (typeof name !== 'string') return 'name must be the name of a tool. Nothing was run.';
  if (args === undefined || isObject(args)) return undefined;
  const found = Array.isArray(args) ? 'a list' : JSON.stringify(args).slice(0, 40);
  return `${name}: arguments must be an object, not ${found}. Nothing was run.`;
}

function idsOf(value: unknown): readonly ReplyId[] {
  if (Array.isArray(value)) return value.flatMap((one) => (Array.isArray(one) ? [] : idsOf(one)));
  const { id, method } = toFields(value);
  // A response carries the id of our own request, so it must not get a reply; a notification has no id.
  if (id === undefined || (method === undefined && hasOutcome(value))) return [];
  // A number that is not an integer is not a valid id, but the client can still match the reply to its request.
  return [typeof id === 'string' || typeof id === 'number' ? id : null];
}

function hasOutcome(value: unknown): boolean {
  const { result, error } = toFields(value);
  return result !== undefined || error !== undefined;
}

function isId(value: unknown): value is Id {
  return typeof value === 'string' || Number.isSafeInteger(value);
}

function toFields(value: unknown): Readonly<Record<string, unknown>> {
  return isObject(value) ? value : {};
}

// Finds the id only where it is the first or last key; an `"id":` in between could belong to the arguments.
function idsAtEnds({ head, tail }: { readonly head: string; readonly tail: string }): readonly Id[] {
  const id = '(-?\\d+|"(?:[^"\\\\]|\\\\.)*")';
  const version = '"jsonrpc"\\s*:\\s*"2\\.0"';
  const atHead = new RegExp(`^\\s*\\{\\s*(?:${version}\\s*,\\s*)?"id"\\s*:\\s*${id}\\s*[,}]`).exec(head);
  const atTail = new RegExp(`[,{]\\s*"id"\\s*:\\s*${id}\\s*(?:,\\s*${version}\\s*)?\\}\\s*$`).exec(tail);
  const value = parseJson((atHead ?? atTail)?.[1] ?? '');
  return isId(value) ? [value] : [];
}
