import type { RawData } from 'ws';
import { NacreError } from '../../../contract/failure.ts';
import { receive } from '../../../tools/receive.ts';
import { type ClientType, clientMessages } from './messages.ts';

/** What was wrong with a message, and which command it was about. */
export interface Refusal {
  readonly id: string | null;
  readonly cause: unknown;
}

/** What is done for each type of message. */
export type Handlers = Readonly<Record<ClientType, (message: never) => Promise<void>>>;

/** Checks a message and hands it on. The id stands in every refusal, also where the rest makes no sense. */
export async function dispatch(handlers: Handlers, data: RawData, isBinary: boolean): Promise<void> {
  let id: string | null = null;
  try {
    if (isBinary) throw noObject('a binary frame');
    const { type, ...rest } = parse(String(data));
    id = typeof rest.id === 'string' ? rest.id.slice(0, 64) : null;
    const known = Object.keys(clientMessages) as ClientType[];
    const found = known.find((one) => one === type);
    if (found === undefined) {
      throw new NacreError(
        'invalid_request',
        `There is no message of the type ${JSON.stringify(type)?.slice(0, 40)}.`,
        { hint: `Types: ${known.join(', ')}.` },
      );
    }
    await handlers[found](receive(found, clientMessages[found], rest) as never);
  } catch (cause) {
    throw { id, cause } satisfies Refusal;
  }
}

function parse(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
  } catch {}
  throw noObject(JSON.stringify(text.slice(0, 40)));
}

function noObject(found: string): NacreError {
  return new NacreError('invalid_request', `A message must be a JSON object in a text frame, not ${found}.`, {
    hint: 'Send {"type": "shell.run", ...}; docs/guide/http.md lists the messages.',
  });
}
