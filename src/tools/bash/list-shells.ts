import { z } from 'zod';
import { showCommand } from '../../contract/command.ts';
import type { SessionState } from '../../contract/session.ts';
import { type SessionOwner, toSessionName } from '../../contract/session-key.ts';
import type { CommandView } from '../../engine/commands/commands.ts';
import { defineTool } from '../common/define-tool.ts';
import type { AllowedCommands, Tool } from '../common/tool.ts';
import { bashFailure, bashReply, failureOutput } from './reply.ts';

const input = z.strictObject({});

/** Input of `ListShells`. */
export type ListShellsInput = z.input<typeof input>;

const shell = z.object({
  bash_id: z.string(),
  command: z.string(),
  status: z.string(),
  exit_code: z.int().nullable(),
  is_running: z.boolean(),
  duration_ms: z.int(),
  unread_bytes: z.int(),
});
const session = z.object({ session: z.string(), cwd: z.string().nullable(), status: z.string() });
const output = z.object({
  shells: z.array(shell).optional(),
  sessions: z.array(session).optional(),
  ...failureOutput,
});

/** `ListShells`: lists background shells and persistent sessions. */
export function listShells(commands: AllowedCommands): Tool {
  return defineTool({
    name: 'ListShells',
    title: 'List shells',
    description: 'Lists the background shells with their status, and the persistent sessions.',
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    input,
    output,
    async run(_, context) {
      const shells = (await commands.list(context)).map(toShell);
      const sessions = (await commands.listSessions()).flatMap((one) => toSession(one, context));
      const lines = [
        ...shells.map((one) => `${one.bash_id}  ${one.status}  ${one.duration_ms}ms  ${one.command}`),
        ...sessions.map((one) => `session ${one.session}  ${one.status}  ${one.cwd ?? ''}`.trimEnd()),
      ];
      const text = lines.length > 0 ? lines.join('\n') : 'There are no shells.';
      return bashReply({ success: true, output: text, metadata: { shells, sessions } });
    },
    fail: (error) => bashFailure(error),
  });
}

function toShell({ id, command, state, unreadBytes }: CommandView): z.output<typeof shell> {
  return {
    bash_id: id,
    command: showCommand(command),
    status: state.status,
    exit_code: state.end?.exitCode ?? null,
    is_running: state.end === null,
    duration_ms: state.durationMs,
    unread_bytes: unreadBytes,
  };
}

function toSession(
  { key, cwd, status }: SessionState,
  holder: SessionOwner,
): readonly z.output<typeof session>[] {
  const name = toSessionName(key, holder);
  return name === undefined ? [] : [{ session: name, cwd, status }];
}
