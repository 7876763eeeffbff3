import { z } from 'zod';
import { inputText } from '../../contract/request.ts';
import type { AllowedCommands } from '../allowed-run.ts';
import { defineTool, type Tool } from '../define-tool.ts';
import { commandOutput } from './command-reply.ts';
import { readAfter } from './read-after.ts';
import { commandId, reading, terminalSize, toReadQuery } from './read-options.ts';
import { terminalFailure, withKeys } from './reply.ts';

const input = z.strictObject({
  command_id: commandId,
  text: inputText.default('').describe('\\n is Enter'),
  keys: z
    .array(z.string().max(20))
    .max(100)
    .optional()
    .describe('Pressed after text: enter, ctrl-c, up, tab, esc, f1, alt-x, …'),
  resize: z.strictObject(terminalSize).optional(),
  eof: z.boolean().default(false),
  secret: z.boolean().default(false).describe('Not recorded, for passwords'),
  ...reading,
});

/** What `write_input` takes. */
export type WriteInputInput = z.input<typeof input>;

const description = `Types into a started command and gives what came back, in one call. Waits like read_output.
Example: {"command_id":"cmd_0f3a9c","text":"yes\\n"}`;

/** Types into a command. */
export function writeInput(commands: AllowedCommands, defaults: { maxOutputChars: number }): Tool {
  return defineTool({
    name: 'write_input',
    title: 'Write input',
    description,
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
    input,
    output: commandOutput,
    async run({ command_id, text, keys, eof, resize, secret, ...options }, context) {
      const query = toReadQuery(options, defaults);
      await commands.checkReading(command_id, query, context);
      const { isTaken } = await commands.write(command_id, { text, keys, eof, resize, secret }, context);
      const reply = await readAfter(commands, command_id, query, context);
      return isTaken ? reply : withKeys(reply, (keys) => ({ ...keys, input_taken: false }));
    },
    fail: terminalFailure,
  });
}
