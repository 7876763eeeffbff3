import { z } from 'zod';
import { NacreError } from '../../contract/failure.ts';
import type { Reading, ReadQuery } from '../../engine/read-command.ts';
import type { AllowedCommands } from '../allowed-run.ts';
import { defineTool, type Tool, type ToolReply } from '../define-tool.ts';
import { joinStreams } from '../join-streams.ts';
import { bashFailure, bashReply, failureOutput } from './reply.ts';

const input = z.strictObject({
  bash_id: z.string().min(1).max(128).describe('The ID of the background shell to retrieve output from'),
  filter: z
    .string()
    .max(1_000, 'must be at most 1000 characters')
    .optional()
    .describe('Optional regex to filter output lines; lines that do not match count as read'),
});

/** What `BashOutput` takes. */
export type BashOutputInput = z.input<typeof input>;

const output = z.object({
  bash_id: z.string().optional(),
  status: z.enum(['pending', 'running', 'completed', 'failed', 'timeout', 'killed']).optional(),
  exit_code: z.int().nullable().optional(),
  is_running: z.boolean().optional(),
  stdout: z.string().optional(),
  stderr: z.string().optional(),
  duration_ms: z.int().optional(),
  unread_bytes: z.int().optional().describe('What is left for the next call'),
  ...failureOutput,
});

const description = `Retrieves output from a running or completed background bash shell.

Usage:
- Takes a bash_id parameter identifying the shell
- Returns only new output since the last check, at most 30000 characters; more is left for the next call
- Returns stdout and stderr along with shell status
- Supports optional regex filtering
- Use this to monitor long-running background commands`;

/** What these tools want of a command: what is new, its beginning first, and the rest at the next call. */
export const newOutput: ReadQuery = {
  waitMs: 0,
  keep: 'beginning',
  view: 'clean',
  maxChars: 30_000,
  howToReadOn: () => 'The next call gives the rest.',
};

/** The tool of 002: what a background shell has said since the last look. */
export function bashOutput(commands: AllowedCommands): Tool {
  return defineTool({
    name: 'BashOutput',
    title: 'Output of a background shell',
    description,
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: false, openWorldHint: false },
    input,
    output,
    async run({ bash_id, filter }, context) {
      const query = { ...newOutput, filter };
      return toReply(await commands.read(bash_id, query, context).catch((error) => explain(error, bash_id)));
    },
    fail: bashFailure,
  });
}

/** The words of 002 for an id or a filter that is none. */
export function explain(error: unknown, id: string): never {
  if (!(error instanceof NacreError)) throw error;
  const { code, hint, message } = error;
  if (code === 'job_not_found') {
    throw new NacreError(code, `Shell not found: ${id}.`, { hint: 'ListShells names those there are.' });
  }
  const found = /^filter is no regular expression: (.*)$/s.exec(message)?.[1];
  throw found === undefined ? error : new NacreError(code, `Invalid filter regex: ${found}`, { hint });
}

function toReply({ id, state, stdout, stderr, unreadBytes, isCut }: Reading): ToolReply {
  const { status, durationMs, end } = state;
  const isRunning = end === null;
  const lines = [
    joinStreams(stdout, stderr).replace(/\n$/, ''),
    ...(unreadBytes > 0 && !isRunning ? [`[${unreadBytes} more bytes: call BashOutput again]`] : []),
    `Status: ${status}`,
    ...(end ? [`Exit code: ${end.exitCode}`, `Duration: ${durationMs}ms`] : []),
  ];
  return bashReply({
    success: true,
    output: lines.filter((line) => line !== '').join('\n'),
    metadata: {
      bash_id: id,
      status,
      exit_code: end?.exitCode ?? null,
      is_running: isRunning,
      stdout,
      stderr,
      duration_ms: durationMs,
      unread_bytes: unreadBytes > 0 ? unreadBytes : undefined,
    },
    logOf: isCut ? id : undefined,
  });
}
