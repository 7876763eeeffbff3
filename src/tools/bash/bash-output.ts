import { z } from 'zod';
import { NacreError } from '../../contract/failure.ts';
import type { Reading, ReadQuery } from '../../engine/reading/read-command.ts';
import { findPatternProblem } from '../../output/matcher.ts';
import { nameTools } from '../../support/name-tools.ts';
import { BashLimits } from '../common/default-limits.ts';
import { defineTool } from '../common/define-tool.ts';
import { summariseChanges } from '../common/describe-changes.ts';
import { joinStreams } from '../common/describe-outcome.ts';
import { limitOutput, type OutputPreference, once } from '../common/fit-reply.ts';
import type { AllowedCommands, Tool, ToolContext, ToolReply } from '../common/tool.ts';
import { bashFailure, bashReply, failureOutput, rethrowShellError } from './reply.ts';

const input = z.strictObject({
  bash_id: z.string().min(1).max(128).describe('The ID of the background shell to retrieve output from'),
  filter: z
    .string()
    .max(1_000, 'must be at most 1000 characters')
    .optional()
    .describe(
      'Optional regex (JavaScript; also (?i) and (?P<x>…) of Python) to filter output lines; lines that do not match count as read',
    ),
});

/** Input of `BashOutput`. */
export type BashOutputInput = z.input<typeof input>;

const output = z.object({
  bash_id: z.string().optional(),
  status: z
    .enum(['pending', 'running', 'unreachable', 'completed', 'failed', 'timeout', 'killed', 'lost'])
    .optional(),
  exit_code: z.int().nullable().optional(),
  is_running: z.boolean().optional(),
  stdout: z.string().optional(),
  stderr: z.string().optional(),
  duration_ms: z.int().optional(),
  unread_bytes: z.int().optional().describe('Bytes left for the next call'),
  ...failureOutput,
});

const description = `Retrieves output from a running or completed background bash shell.

Usage:
- Takes a bash_id parameter identifying the shell
- Returns only new output since last check, at most ${BashLimits.MAX_OUTPUT_SIZE} characters; more is left for the next call
- Returns stdout and stderr along with shell status
- Supports optional regex filtering
- Use this to monitor long-running background commands`;

/** The amount of output in a reply of the Bash tools, and its format. */
export const bashOutputSize: OutputPreference = {
  defaultChars: BashLimits.MAX_OUTPUT_SIZE,
  isSpecified: true,
  write: joinStreams,
};

/** Query for the new output, oldest first; output over 30000 characters is left for the next call. */
export function newOutputFor(context: ToolContext): ReadQuery {
  return {
    waitMs: 0,
    keep: 'beginning',
    view: 'clean',
    ...limitOutput(context, bashOutputSize),
    howToReadOn: () => 'The next call returns the rest.',
  };
}

/** `BashOutput`: returns the output of a background shell since the last call. */
export function bashOutput(commands: AllowedCommands): Tool {
  return defineTool({
    name: 'BashOutput',
    title: 'Output of a background shell',
    description,
    annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: false, openWorldHint: false },
    input,
    output,
    async run({ bash_id, filter }, context) {
      checkFilter(filter);
      const reading = commands.read(bash_id, { ...newOutputFor(context), filter }, context);
      return toReply(await reading.catch((error) => rethrowShellError(error, bash_id)), context);
    },
    fail: (error) => bashFailure(error),
  });
}

function checkFilter(filter: string | undefined): void {
  const problem = filter === undefined ? undefined : findPatternProblem(filter);
  if (problem === undefined) return;
  throw new NacreError('invalid_request', `Invalid filter regex: ${problem}.`, {
    hint: 'Use the syntax of JavaScript or of Python, and escape special characters with \\.',
  });
}

function toReply(reading: Reading, context: ToolContext): ToolReply {
  const { id, state, stdout, stderr, unreadBytes, isCut } = reading;
  const hint = reading.hint === null ? undefined : once(context, reading.hint);
  const { status, durationMs, end } = state;
  const note = state.changesNote ?? end?.changesNote;
  const isRunning = end === null;
  const lines = [
    joinStreams(stdout, stderr).replace(/\n$/, ''),
    ...(unreadBytes > 0 && !isRunning
      ? [nameTools(context.toolPrefix, `[${unreadBytes} more bytes: call BashOutput again]`)]
      : []),
    ...(hint === undefined ? [] : [`[${hint}]`]),
    ...(end?.changes ? [summariseChanges(end.changes)] : []),
    ...(note === undefined ? [] : [note]),
    `Status: ${status}`,
    ...(end ? [`Exit code: ${end.exitCode ?? `not known (${end.cause})`}`, `Duration: ${durationMs}ms`] : []),
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
      hint,
    },
    logId: isCut ? id : undefined,
  });
}
