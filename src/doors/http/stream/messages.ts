import { z } from 'zod';
import { envMap, inputText } from '../../../contract/request.ts';
import { shellRequest } from '../endpoints/shell-endpoint.ts';

const id = z.string().regex(/^[\w.:-]{1,64}$/, 'must be 1 to 64 letters, digits and . : _ -');
const size = z.strictObject({ cols: z.int().min(1).max(1_000), rows: z.int().min(1).max(1_000) });

/** The schema of each message type that a client may send. */
export const clientMessages = {
  'shell.run': shellRequest.extend({
    id: id.optional().describe("The client's id for the command; the server generates one when omitted."),
    env: envMap.optional(),
    stdin: z.enum(['open', 'empty']).default('open').describe('open accepts shell.stdin.'),
    timeout_ms: z.int().min(1).max(86_400_000).optional(),
    pty: size.optional().describe('Runs it in a terminal of this size.'),
    encoding: z.enum(['utf8', 'base64']).default('utf8').describe('Encoding of data in output messages.'),
  }),
  'shell.stdin': z.strictObject({ id, data: inputText.default(''), eof: z.boolean().default(false) }),
  'shell.signal': z.strictObject({ id, signal: z.enum(['SIGINT', 'SIGTERM', 'SIGKILL']) }),
  'shell.resize': size.extend({ id }),
  'shell.resume': z.strictObject({
    id,
    cursor: z
      .int()
      .min(0)
      .max(Number.MAX_SAFE_INTEGER)
      .default(0)
      .describe('The cursor of the last message that arrived.'),
  }),
};

/** The type of a client message. */
export type ClientType = keyof typeof clientMessages;

/** A client message of one type, parsed. */
export type ClientMessage<Type extends ClientType> = z.output<(typeof clientMessages)[Type]>;

/** A message of the server; `cursor` counts the bytes of the command's output that have been sent. */
export type ServerMessage =
  | { type: 'shell.start'; id: string; command_id: string; cursor: number }
  | { type: 'shell.stdout' | 'shell.stderr'; id: string; data: string; cursor: number }
  | { type: 'shell.awaiting_input'; id: string; cursor: number }
  | {
      type: 'shell.exit';
      id: string;
      code: number;
      signal: string | null;
      cause: string;
      detail?: string;
      /** The next step if the command failed for want of the network. */
      hint?: string;
      cursor: number;
      duration_ms: number;
    }
  | {
      type: 'shell.error';
      id: string | null;
      error: string;
      reason?: string | undefined;
      hint?: string | undefined;
    };
