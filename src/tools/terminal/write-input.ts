import { z } from 'zod';
import { inputText } from '../../contract/request.ts';
import { defineTool } from '../common/define-tool.ts';
import type { AllowedCommands, Tool } from '../common/tool.ts';
import { commandId, reading, terminalSize, toReadQuery } from './read-options.ts';
import { commandOutput, readAfter, terminalFailure, withKeys } from './reply.ts';

const input = z.strictObject({
  command_id: commandId,
  text: inputText.default('').describe('\\n is Enter'),
  keys: z
    .array(z.string().max(20))
    .max(100)
    .optional()
    .describe('Keys to press after text: enter, ctrl-c, up, tab, esc, f1, alt-x, …'),
  resize: z.strictObject(terminalSize).optional(),
  eof: z.boolean().default(false),
  secret: z.boolean().default(false).describe('Not recorded, for passwords'),
  ...reading,
});

/** Input of `write_input`. */
export type WriteInputInput = z.input<typeof input>;

const description = `Writes to the stdin or terminal of a started command and returns the new output. Waits like read_output.
Example: {"command_id":"cmd_0f3a9c","text":"yes\\n"}`;

/** `write_input`: writes to a started command and returns its new output. */
export function writeInput(commands: AllowedCommands, defaults: { readonly maxOutputChars: number }): Tool {
  return defineTool({
    name: 'write_input',
    title: 'Write input',
    description,
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
    input,
    output: commandOutput,
    async run({ command_id, text, keys, eof, resize, secret, ...options }, context) {
      const query = toReadQuery(options, defaults, context);
      await commands.checkReading(command_id, query, context);
      const { isTaken } = await commands.write(command_id, { text, keys, eof, resize, secret }, context);
      const reply = await readAfter(commands, command_id, query, context);
      return isTaken ? reply : withKeys(reply, (keys) => ({ ...keys, input_taken: false }));
    },
    fail: terminalFailure,
  });
}
