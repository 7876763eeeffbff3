import type { RawData } from 'ws';
import { NacreError } from '../../../contract/failure.ts';
import { receive } from '../../../tools/common/define-tool.ts';
import { type ClientType, clientMessages } from './messages.ts';

/** Why a message was refused, and the command id that it named. */
export interface RefusedMessage {
  readonly id: string | null;
  readonly cause: unknown;
}

/** The handler of each message type. */
export type MessageHandlers = Readonly<Record<ClientType, (message: never) => Promise<void>>>;

/** Validates a message and calls its handler; throws a `RefusedMessage`, with the id even if the rest is invalid. */
export async function dispatch(handlers: MessageHandlers, data: RawData, isBinary: boolean): Promise<void> {
  let id: string | null = null;
  try {
    if (isBinary) throw notAnObject('a binary frame');
    const { type, ...rest } = parse(String(data));
    id = typeof rest.id === 'string' ? rest.id.slice(0, 64) : null;
    const known = Object.keys(clientMessages) as ClientType[];
    const found = known.find((one) => one === type);
    if (found === undefined) {
      throw new NacreError(
        'invalid_request',
        `There is no message of type ${JSON.stringify(type)?.slice(0, 40)}.`,
        { hint: `Types: ${known.join(', ')}.` },
      );
    }
    await handlers[found](receive(found, clientMessages[found], rest) as never);
  } catch (cause) {
    throw { id, cause } satisfies RefusedMessage;
  }
}

function parse(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
  } catch {}
  throw notAnObject(JSON.stringify(text.slice(0, 40)));
}

function notAnObject(found: string): NacreError {
  return new NacreError('invalid_request', `A message must be a JSON object in a text frame, not ${found}.`, {
    hint: 'Send {"type": "shell.run", ...}; docs/guide/http.md lists the messages.',
  });
}
