import { z } from 'zod';
import { envMap, inputText } from '../../../contract/request.ts';
import { shellRequest } from '../post-shell.ts';

const id = z.string().regex(/^[\w.:-]{1,64}$/, 'must be 1 to 64 letters, digits and . : _ -');
const size = z.strictObject({ cols: z.int().min(1).max(1_000), rows: z.int().min(1).max(1_000) });

/** What a client may say, by the type of the message. */
export const clientMessages = {
  'shell.run': shellRequest.extend({
    id: id.optional().describe('What the client calls the command; the server finds a name without it.'),
    env: envMap.optional(),
    stdin: z.enum(['open', 'empty']).default('open').describe('open takes shell.stdin.'),
    timeout_ms: z.int().min(1).max(86_400_000).optional(),
    pty: size.optional().describe('Gives it a terminal of this size.'),
    encoding: z.enum(['utf8', 'base64']).default('utf8').describe('How data of the output is written.'),
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

/** The types of messages that a client may send. */
export type ClientType = keyof typeof clientMessages;

/** The content of one of them. */
export type ClientMessage<Type extends ClientType> = z.output<(typeof clientMessages)[Type]>;

/** What the server says; a cursor is how much of the command's output has been told, in bytes. */
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
