import { z } from 'zod';
import { inputText } from '../../../contract/request.ts';
import { programFields } from '../endpoints/shell-endpoint.ts';

const id = z.string().regex(/^[\w.:-]{1,64}$/, 'must be 1 to 64 letters, digits and . : _ -');
const size = z.strictObject({ cols: z.int().min(1).max(1_000), rows: z.int().min(1).max(1_000) });

/** The schema of each message type that a client may send. */
export const clientMessages = {
  'shell.run': z.strictObject({
    ...programFields,
    id: id.optional().describe("The client's id for the command; the server generates one when omitted."),
    stdin: z.enum(['open', 'empty']).default('open').describe('open accepts shell.stdin.'),
    timeout_ms: z
      .int()
      .min(1)
      .max(86_400_000)
      .optional()
      .describe('Kills the command after this time; no timeout when omitted.'),
    pty: size.optional().describe('Runs it in a terminal of this size.'),
    raw: z
      .boolean()
      .default(false)
      .describe(
        'Sends output as the program wrote it, instead of sanitised text; a terminal and base64 are always raw.',
      ),
    encoding: z.enum(['utf8', 'base64']).default('utf8').describe('Encoding of data in output messages.'),
  }),
  'shell.stdin': z.strictObject({
    id,
    data: inputText.default('').describe('Text for stdin, or keystrokes for a terminal.'),
    eof: z.boolean().default(false).describe('Closes stdin after the data.'),
  }),
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

const cursor = z.int().min(0).describe("Bytes of the command's output that have been sent.");
const output = z.strictObject({ id, data: z.string(), cursor });

/** The schema of each message type that the server sends. */
export const serverMessages = {
  'shell.start': z.strictObject({
    id,
    command_id: z.string().describe('The id in nacre ps and in the audit log.'),
    cursor,
  }),
  'shell.stdout': output,
  'shell.stderr': output,
  'shell.gone': z
    .strictObject({ id, bytes: z.int().min(1), cursor })
    .describe(
      'Output that was removed before it was sent, because running commands needed its space (spool_total_bytes).',
    ),
  'shell.awaiting_input': z.strictObject({ id, cursor }),
  'shell.exit': z.strictObject({
    id,
    code: z
      .int()
      .nullable()
      .describe('The exit code; 128 + N if signal N ended the program; null if it is not known.'),
    signal: z.string().nullable(),
    cause: z.string().describe('exit, or what ended the command, such as timeout or stopped.'),
    detail: z.string().optional(),
    hint: z
      .string()
      .optional()
      .describe('The next step if the kernel stopped a program, or if the command had no network.'),
    cursor,
    duration_ms: z.int().min(0),
  }),
  'shell.error': z.strictObject({
    id: z.string().nullable().describe('The command that the refused message named.'),
    error: z.string().describe('The reason, in one sentence.'),
    reason: z.string().optional().describe('A code for programs, as in docs/reference/errors.md.'),
    hint: z.string().optional().describe('The next step.'),
  }),
};

type ServerType = keyof typeof serverMessages;

/** A message of the server. */
export type ServerMessage = {
  [Type in ServerType]: { readonly type: Type } & z.output<(typeof serverMessages)[Type]>;
}[ServerType];
