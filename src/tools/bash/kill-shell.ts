import { z } from 'zod';
import { showCommand } from '../../contract/command.ts';
import type { ProcessRef } from '../../contract/job.ts';
import { defineTool } from '../common/define-tool.ts';
import { nameProcesses } from '../common/describe-outcome.ts';
import type { AllowedCommands, Tool } from '../common/tool.ts';
import { bashFailure, bashReply, failureOutput, rethrowShellError } from './reply.ts';
import { sessionKey, shellName } from './session-name.ts';

const input = z.strictObject({
  shell_id: z
    .string()
    .min(1)
    .max(128)
    .describe('The ID of the background shell to kill, or the name of a session to close'),
});

/** Input of `KillShell`. */
export type KillShellInput = z.input<typeof input>;

const output = z.object({
  shell_id: z.string().optional(),
  command: z.string().optional(),
  status: z.string().optional(),
  duration_ms: z.int().optional(),
  already_stopped: z.boolean().optional(),
  still_running: z.array(z.string()).optional(),
  ...failureOutput,
});

const description = `Kills a running background bash shell by its ID.

Usage:
- Takes a shell_id parameter identifying the shell to kill
- Returns success or failure status, once the shell and all processes it started are gone
- Use this to terminate long-running commands
- With the name of a session, kills its shell and its background processes`;

// A server may need the grace period to close its files before SIGKILL.
const killSignal = { signal: 'SIGTERM', graceMs: 2_000 } as const;

const survivorHint = 'Processes of another user, or that wait for a device, must be ended by a person.';

/** `KillShell`: kills a background shell, or closes a session. */
export function killShell(commands: AllowedCommands): Tool {
  return defineTool({
    name: 'KillShell',
    title: 'Kill a background shell',
    description,
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
    input,
    output,
    async run({ shell_id }, context) {
      const before = (await commands.list(context)).find(({ id }) => id === shell_id);
      const isName = shellName.safeParse(shell_id).success;
      const closed =
        !before && isName ? await commands.closeSession(sessionKey(context, shell_id)) : undefined;
      if (closed)
        return toReply(`Session ${shell_id} terminated`, closed.survivors, { shell_id, status: 'killed' });
      const alreadyStopped = before ? before.state.end !== null : undefined;
      const { state, command } = await commands
        .stop(shell_id, killSignal, context)
        .catch((error) => rethrowShellError(error, shell_id));
      const text = `Shell ${shell_id} ${alreadyStopped ? `already stopped (${state.status})` : 'terminated'}`;
      return toReply(text, state.end?.survivors ?? [], {
        shell_id,
        command: showCommand(command),
        status: state.status,
        duration_ms: state.durationMs,
        already_stopped: alreadyStopped || undefined,
      });
    },
    fail: (error) => bashFailure(error),
  });
}

// A success means that nothing of the shell runs any more.
function toReply(
  text: string,
  survivors: readonly ProcessRef[],
  metadata: { readonly shell_id: string } & Omit<z.infer<typeof output>, 'shell_id' | 'still_running'>,
): ReturnType<typeof bashReply> {
  if (survivors.length === 0) return bashReply({ success: true, output: text, metadata });
  const left = nameProcesses(survivors);
  return bashReply({
    success: false,
    output: '',
    error: `Failed to kill shell: ${metadata.shell_id} has ended, but could not be killed: ${left.join(', ')}. ${survivorHint}`,
    metadata: { ...metadata, still_running: left },
  });
}
