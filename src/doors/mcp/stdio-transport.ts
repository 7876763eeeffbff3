// Messages on stdin and stdout, one JSON document a line:
// 1. bytes become lines, 2. a line that is no message is answered where it says whom to answer, else named on stderr,
// 3. a message goes to the SDK, 4. what the SDK sends becomes a line.
// The SDK's own transport leaves a request that it cannot read without an answer, takes broken UTF-8 for text, and
// hangs up at a message that is too long.
import { isUtf8 } from 'node:buffer';
import {
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResponse,
  type JSONRPCMessage,
  ProtocolErrorCode,
  type Transport,
} from '@modelcontextprotocol/server';
import type { Io } from '../door.ts';
import { type Line, splitLines } from './split-lines.ts';

// Larger than any input that is accepted, so that one which is too long is answered by its tool.
const maxMessageBytes = 24 * 1024 * 1024;

type Id = string | number;

/** Makes the transport of one connection; it stays open until it is closed, whatever comes in. */
export function createStdioTransport({ stdin, stdout }: Pick<Io, 'stdin' | 'stdout'>): Transport {
  const refuse = (ids: readonly Id[], code: number, message: string) => {
    for (const id of ids) void transport.send({ jsonrpc: '2.0', id, error: { code, message } });
    transport.onerror?.(new Error(message));
  };
  const receive = (line: Line) => {
    if (line.kind === 'too_long') return refuse(idsAtEnds(line), ProtocolErrorCode.InvalidRequest, tooLong);
    const text = line.bytes.toString().trim();
    if (text === '') return;
    const value = parse(text);
    if (value === undefined) return refuse([], ProtocolErrorCode.ParseError, notJson);
    if (!isUtf8(line.bytes)) return refuse(idsOf(value), ProtocolErrorCode.ParseError, notUtf8);
    if (!isMessage(value)) return refuse(idsOf(value), ProtocolErrorCode.InvalidRequest, whatIsWrong(value));
    const wrongCall = whatIsWrongInCall(value);
    if (wrongCall !== undefined) return refuse(idsOf(value), ProtocolErrorCode.InvalidParams, wrongCall);
    transport.onmessage?.(value);
  };
  const onData = splitLines(maxMessageBytes, receive);

  const transport: Transport = {
    async start() {
      stdin.on('data', onData);
    },
    // Nobody waits for a client that does not read: its answers must not keep the server from ending.
    async send(message) {
      stdout.write(`${JSON.stringify(message)}\n`);
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

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isMessage(value: unknown): value is JSONRPCMessage {
  return isJSONRPCRequest(value) || isJSONRPCNotification(value) || isJSONRPCResponse(value);
}

function whatIsWrong(value: unknown): string {
  if (Array.isArray(value)) return 'Batches are not supported: send one message a line. Nothing was run.';
  const { jsonrpc, method, params, id } = toFields(value);
  const problem =
    (jsonrpc !== '2.0' && 'jsonrpc must be "2.0"') ||
    (typeof method !== 'string' && 'method must be a string') ||
    (id !== undefined && !isId(id) && 'id must be a string or a whole number') ||
    (params !== undefined && !isObject(params) && 'params must be an object') ||
    'it has fields that no message has, or params that no request has';
  return `The message is not valid JSON-RPC: ${problem}. Nothing was run.`;
}

// The SDK would answer with what its schema says about it.
function whatIsWrongInCall(message: unknown): string | undefined {
  const { method, params } = toFields(message);
  if (method !== 'tools/call') return undefined;
  const { name, arguments: given } = toFields(params);
  if (typeof name !== 'string') return 'name must be the name of a tool. Nothing was run.';
  if (given === undefined || isObject(given)) return undefined;
  const found = Array.isArray(given) ? 'a list' : JSON.stringify(given).slice(0, 40);
  return `${name}: arguments must be an object, not ${found}. Nothing was run.`;
}

function idsOf(value: unknown): readonly Id[] {
  if (Array.isArray(value)) return value.flatMap((one) => (Array.isArray(one) ? [] : idsOf(one)));
  const { id, method } = toFields(value);
  // An answer has an id too, but it is ours and nobody waits for it.
  return isId(id) && (method !== undefined || !hasOutcome(value)) ? [id] : [];
}

function hasOutcome(value: unknown): boolean {
  const { result, error } = toFields(value);
  return result !== undefined || error !== undefined;
}

function isId(value: unknown): value is Id {
  return typeof value === 'string' || Number.isSafeInteger(value);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function toFields(value: unknown): Readonly<Record<string, unknown>> {
  return isObject(value) ? value : {};
}

// Clients write the id first or last; in between it could be anything.
function idsAtEnds({ head, tail }: { head: string; tail: string }): readonly Id[] {
  const id = '(-?\\d+|"(?:[^"\\\\]|\\\\.)*")';
  const version = '"jsonrpc"\\s*:\\s*"2\\.0"';
  const atHead = new RegExp(`^\\s*\\{\\s*(?:${version}\\s*,\\s*)?"id"\\s*:\\s*${id}\\s*[,}]`).exec(head);
  const atTail = new RegExp(`[,{]\\s*"id"\\s*:\\s*${id}\\s*(?:,\\s*${version}\\s*)?\\}\\s*$`).exec(tail);
  const value = parse((atHead ?? atTail)?.[1] ?? '');
  return isId(value) ? [value] : [];
}
