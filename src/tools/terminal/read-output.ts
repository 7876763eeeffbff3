import { z } from 'zod';
import type { AllowedCommands } from '../allowed-run.ts';
import { defineTool, type Tool } from '../define-tool.ts';
import { commandOutput, commandReply } from './command-reply.ts';
import { commandId, reading, toReadQuery } from './read-options.ts';
import { terminalFailure } from './reply.ts';

const input = z.strictObject({
  command_id: commandId,
  ...reading,
  cursor: reading.cursor.describe('Read again from here'),
  filter: reading.filter.describe('RegExp; lines without it are left out'),
});

/** What `read_output` takes. */
export type ReadOutputInput = z.input<typeof input>;

const description = `Gives what a started command has printed since you last looked. Waits like start_command.
Long output keeps both ends; left_out_from is the cursor for the rest. view: raw keeps escape codes, tail gives the end, screen what a terminal shows.
Example: {"command_id":"web","wait_for":"compiled","wait_ms":50000}`;

/** Reads what a command has printed. */
export function readOutput(commands: AllowedCommands, defaults: { maxOutputChars: number }): Tool {
  return defineTool({
    name: 'read_output',
    title: 'Read output',
    description,
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: false, openWorldHint: false },
    input,
    output: commandOutput,
    async run({ command_id, ...options }, context) {
      return commandReply(await commands.read(command_id, toReadQuery(options, defaults), context));
    },
    fail: terminalFailure,
  });
}
