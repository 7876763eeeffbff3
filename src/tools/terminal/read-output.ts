import { z } from 'zod';
import { defineTool } from '../common/define-tool.ts';
import type { AllowedCommands, Tool } from '../common/tool.ts';
import { commandId, reading, toReadQuery } from './read-options.ts';
import { commandOutput, commandReply, terminalFailure } from './reply.ts';

const input = z.strictObject({
  command_id: commandId,
  ...reading,
  cursor: reading.cursor.describe('Read again from here'),
  filter: reading.filter.describe('RegExp; drops lines that do not match'),
});

/** Input of `read_output`. */
export type ReadOutputInput = z.input<typeof input>;

const description = `Returns output since your last read. Waits like start_command.
Long output is cut in the middle; left_out_from is the cursor of the missing part. view: raw keeps escape codes, tail is the end, screen the terminal's current screen.
Example: {"command_id":"web","wait_for":"compiled","wait_ms":50000}`;

/** `read_output`: returns the new output of a started command. */
export function readOutput(commands: AllowedCommands, defaults: { readonly maxOutputChars: number }): Tool {
  return defineTool({
    name: 'read_output',
    title: 'Read output',
    description,
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: false, openWorldHint: false },
    input,
    output: commandOutput,
    async run({ command_id, ...options }, context) {
      const query = toReadQuery(options, defaults, context);
      return commandReply(await commands.read(command_id, query, context));
    },
    fail: terminalFailure,
  });
}
