import { z } from 'zod';
import { defineTool } from '../common/define-tool.ts';
import type { AllowedCommands, Tool } from '../common/tool.ts';
import { commandId, toReadQuery } from './read-options.ts';
import { commandOutput, readAfter, terminalFailure } from './reply.ts';

const input = z.strictObject({
  command_id: commandId,
  signal: z.enum(['INT', 'TERM', 'KILL']).default('INT'),
  grace_ms: z.int().min(0).max(30_000).default(2_000),
});

/** Input of `stop_command`. */
export type StopCommandInput = z.input<typeof input>;

const description = `Stops a started command with its whole process tree: signal, then TERM, then KILL, grace_ms apart. Returns its last output and exit code.
Example: {"command_id":"web"}`;

/** `stop_command`: kills a started command with its process tree. */
export function stopCommand(commands: AllowedCommands, defaults: { readonly maxOutputChars: number }): Tool {
  return defineTool({
    name: 'stop_command',
    title: 'Stop a command',
    description,
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
    input,
    output: commandOutput,
    async run({ command_id, signal, grace_ms }, context) {
      const { id } = await commands.stop(command_id, { signal: `SIG${signal}`, graceMs: grace_ms }, context);
      return readAfter(commands, id, toReadQuery({ wait_ms: 0 }, defaults, context), context);
    },
    fail: terminalFailure,
  });
}
