import { z } from 'zod';
import type { AllowedCommands } from '../allowed-run.ts';
import { defineTool, type Tool } from '../define-tool.ts';
import { commandOutput } from './command-reply.ts';
import { readAfter } from './read-after.ts';
import { commandId, toReadQuery } from './read-options.ts';
import { terminalFailure } from './reply.ts';

const input = z.strictObject({
  command_id: commandId,
  signal: z.enum(['INT', 'TERM', 'KILL']).default('INT'),
  grace_ms: z.int().min(0).max(30_000).default(2_000),
});

/** What `stop_command` takes. */
export type StopCommandInput = z.input<typeof input>;

const description = `Ends a started command and all it has started: signal first, then TERM, then KILL, grace_ms apart. Gives the last output and exit status once all are gone.
Example: {"command_id":"web"}`;

/** Ends a command. */
export function stopCommand(commands: AllowedCommands, defaults: { maxOutputChars: number }): Tool {
  return defineTool({
    name: 'stop_command',
    title: 'Stop a command',
    description,
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
    input,
    output: commandOutput,
    async run({ command_id, signal, grace_ms }, context) {
      const { id } = await commands.stop(command_id, { signal: `SIG${signal}`, graceMs: grace_ms }, context);
      return readAfter(commands, id, toReadQuery({ wait_ms: 0 }, defaults), context);
    },
    fail: terminalFailure,
  });
}
