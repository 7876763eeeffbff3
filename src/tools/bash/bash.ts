import { z } from 'zod';
import type { Outcome } from '../../contract/outcome.ts';
import { type CommandRequest, commandText } from '../../contract/request.ts';
import type { Reading } from '../../engine/reading/read-command.ts';
import { nameTools } from '../../support/name-tools.ts';
import { BashLimits } from '../common/default-limits.ts';
import { defineTool } from '../common/define-tool.ts';
import { toChangesReply } from '../common/describe-changes.ts';
import { describeEnd, joinStreams, omitUndefined, toOutcomeMeta } from '../common/describe-outcome.ts';
import { limitOutput, toRunLimits } from '../common/fit-reply.ts';
import type { TimeLimits } from '../common/time-limits.ts';
import type { AllowedCommands, AllowedRun, Tool, ToolContext, ToolReply } from '../common/tool.ts';
import { bashOutputSize, newOutputFor } from './bash-output.ts';
import { bashFailure, bashReply, failureOutput, notesOn } from './reply.ts';
import { sessionKey, sessionName } from './session-name.ts';

const inputWithin = ({ defaultMs, maxMs }: TimeLimits) =>
  z.strictObject({
    ...fields,
    timeout: z
      .int()
      .min(BashLimits.MIN_TIMEOUT)
      .max(maxMs)
      .optional()
      // This schema has no `.default()`, because without `timeout` a background shell has no time limit.
      .meta({ description: `Timeout in milliseconds (max ${maxMs})`, default: defaultMs }),
  });

const fields = {
  command: commandText.describe('The command to execute'),
  description: z
    .string()
    .max(1_000, 'must be at most 1000 characters')
    .optional()
    .describe('Clear, concise description of what this command does (5-10 words)'),
  run_in_background: z
    .boolean()
    .default(false)
    .describe('Run command in background, use BashOutput to read output'),
  session: sessionName
    .optional()
    .describe('Name of the persistent shell (default main); different sessions run in parallel'),
};

/** Input of `Bash`. */
export type BashInput = z.input<ReturnType<typeof inputWithin>>;

const output = z.object({
  exit_code: z.int().nullable().optional(),
  stdout: z.string().optional(),
  stderr: z.string().optional(),
  bash_id: z.string().optional().describe('For BashOutput and KillShell'),
  status: z.string().optional(),
  cwd: z.string().optional().describe('Current directory of the shell'),
  duration_ms: z.int().optional(),
  timed_out: z.boolean().optional(),
  signal: z.string().optional(),
  truncated: z.boolean().optional(),
  left_out: z.record(z.string(), z.number()).optional(),
  dry_run: z.boolean().optional(),
  rewritten_command: z.string().optional().describe('The command that was run instead'),
  queued_ms: z.int().optional(),
  changes: z.record(z.string(), z.unknown()).optional(),
  notes: z.array(z.string()).optional(),
  ...failureOutput,
});

const describeTool = ({
  defaultMs,
  maxMs,
}: TimeLimits) => `Executes a given bash command in a persistent shell session: directory, variables, functions and aliases persist between calls.

IMPORTANT: This tool is for terminal operations like git, npm, docker, etc.
DO NOT use it for file operations - use the specialized file tools instead.

Usage notes:
- The command argument is required
- Timeout defaults to ${defaultMs}ms${inMinutes(defaultMs)}, max ${maxMs}ms${inMinutes(maxMs)}; a command that takes longer is killed, the session stays usable
- Output exceeding ${BashLimits.MAX_OUTPUT_SIZE} characters will be truncated in the middle
- Use run_in_background=true for long-running commands, then BashOutput and KillShell
- stdin is empty: prompts cannot be answered
- Quote file paths with spaces using double quotes
- Use && to chain dependent commands
- Use ; when you don't care if earlier commands fail`;

function inMinutes(ms: number): string {
  const minutes = ms / 60_000;
  return Number.isInteger(minutes) ? ` (${minutes} minute${minutes === 1 ? '' : 's'})` : '';
}

/** Dependencies of `Bash`. */
export interface BashDeps {
  readonly run: AllowedRun;
  readonly commands: AllowedCommands;
  /** Whether a timed-out command is killed or keeps running as a background shell. */
  readonly onTimeout: 'kill' | 'background';
  readonly timeLimits: TimeLimits;
}

/** `Bash`: runs a command in a persistent shell, or starts a background shell. */
export function bash(deps: BashDeps): Tool {
  return defineTool({
    name: 'Bash',
    title: 'Bash',
    alwaysLoad: true,
    description: describeTool(deps.timeLimits),
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
    choosesMachine: true,
    input: inputWithin(deps.timeLimits),
    output,
    async run(args, context) {
      const isBackground = args.run_in_background && !context.dryRun;
      try {
        return await (isBackground
          ? startInBackground(deps.commands, args, context)
          : runInSession(deps, args, context));
      } catch (error) {
        return bashFailure(error, args.command);
      }
    },
    fail: (error) => bashFailure(error),
  });
}

type Args = z.output<ReturnType<typeof inputWithin>>;

async function runInSession(deps: BashDeps, args: Args, context: ToolContext): Promise<ToolReply> {
  const { command, timeout = deps.timeLimits.defaultMs } = args;
  const limits = toRunLimits(limitOutput(context, bashOutputSize));
  const request: CommandRequest = {
    command: { kind: 'shell', script: command },
    session: sessionKey(context, args.session),
    timeoutMs: timeout,
    ...limits.request,
    // In-process callers get exactly 30000 characters.
    cutAtLines: context.replyLimits !== undefined,
    quotePaths: true,
  };
  const isDryRun = context.dryRun === true;
  const runContext = {
    ...context,
    ...limits.context,
    howToGetRest: howToGetRest(context),
    onWait: reportQueue(context),
  };
  if (deps.onTimeout === 'kill' || isDryRun) {
    return toReply(await deps.run(request, runContext), args, { timeoutMs: timeout, isDryRun, context });
  }
  const result = await deps.commands.runOrDetach({ ...request, idPrefix: 'shell' }, runContext);
  if (result.kind === 'ended')
    return toReply(result.outcome, args, { timeoutMs: timeout, isDryRun, context });
  const reading = await deps.commands.read(result.id, newOutputFor(context), context);
  return stillRunning(reading, args, { timeoutMs: timeout, isDryRun, context });
}

function stillRunning(reading: Reading, args: Args, { timeoutMs, context }: RunMode): ToolReply {
  const { toolPrefix } = context;
  const { id, stdout, stderr, state, isCut } = reading;
  const sentence = `Still running after ${timeoutMs}ms as background shell ${id}. Read its output with BashOutput, kill it with KillShell. The session has a new shell in the state before this command.`;
  const note = nameTools(toolPrefix, sentence);
  return bashReply({
    success: true,
    output: withNotes(joinStreams(stdout, stderr), [note]),
    request: { command: args.command, description: args.description },
    metadata: {
      exit_code: null,
      stdout,
      stderr,
      bash_id: id,
      status: state.status,
      duration_ms: state.durationMs,
      timed_out: true,
      notes: [note],
    },
    logId: isCut ? id : undefined,
  });
}

const howToGetRest =
  ({ toolPrefix }: ToolContext) =>
  (id: string) =>
    nameTools(
      toolPrefix,
      `Read all of it in pieces with BashOutput (bash_id ${id}), or narrow it with head, tail or grep.`,
    );

function reportQueue({ onProgress }: ToolContext): (ahead: number) => void {
  return (ahead) => {
    const lastLine = `waiting for ${ahead} earlier ${ahead === 1 ? 'command' : 'commands'} in the same session`;
    onProgress?.({ elapsedMs: 0, bytes: 0, lines: 0, lastLine });
  };
}

async function startInBackground(
  commands: AllowedCommands,
  args: Args,
  context: ToolContext,
): Promise<ToolReply> {
  const { command, description: purpose, timeout = null } = args;
  const { id } = await commands.start(
    {
      command: { kind: 'shell', script: command },
      beginsAs: sessionKey(context, args.session),
      idPrefix: 'shell',
      stdin: 'empty',
      timeoutMs: timeout,
      quotePaths: true,
    },
    context,
  );
  const next = `Read its output with BashOutput (bash_id ${id}), kill it with KillShell.`;
  return bashReply({
    success: true,
    output: `Started background shell ${id}\n${nameTools(context.toolPrefix, next)}`,
    request: { command, description: purpose },
    metadata: { bash_id: id, status: 'running' },
  });
}

interface RunMode {
  readonly timeoutMs: number;
  readonly isDryRun: boolean;
  readonly context: ToolContext;
}

function toReply(outcome: Outcome, args: Args, { timeoutMs, isDryRun, context }: RunMode): ToolReply {
  const error = toError(outcome, timeoutMs);
  const notes = notesOn(outcome, context);
  const { stdout, stderr } = outcome;
  return bashReply({
    success: error === undefined,
    output: withNotes(joinStreams(stdout, stderr), notes),
    error,
    request: { command: args.command, description: args.description },
    metadata: {
      exit_code: outcome.cause === 'timeout' ? null : outcome.exitCode,
      stdout,
      stderr,
      bash_id: outcome.leftRunning.length > 0 ? outcome.id : undefined,
      cwd: outcome.session?.cwd ?? outcome.cwd,
      duration_ms: outcome.durationMs,
      timed_out: outcome.cause === 'timeout' || undefined,
      signal: outcome.signal ?? undefined,
      truncated: outcome.truncated || undefined,
      left_out: outcome.leftOut && omitUndefined({ ...outcome.leftOut }),
      dry_run: isDryRun || undefined,
      rewritten_command: outcome.rewrittenCommand,
      queued_ms: outcome.wait?.waitedMs || undefined,
      changes: outcome.changes && toChangesReply(outcome.changes),
      notes: notes.length > 0 ? notes : undefined,
    },
    logId: outcome.truncated ? outcome.id : undefined,
    meta: toOutcomeMeta(outcome),
  });
}

function withNotes(text: string, notes: readonly string[]): string {
  const separator = text === '' || text.endsWith('\n') || notes.length === 0 ? '' : '\n';
  return `${text}${separator}${notes.map((note) => `[${note}]`).join('\n')}`;
}

function toError(outcome: Outcome, timeoutMs: number): string | undefined {
  const { cause, exitCode } = outcome;
  const error = describeEnd(outcome, `${timeoutMs}ms`);
  if (cause === 'timeout')
    return `${error} and was killed. Pass a larger timeout, or use run_in_background=true.`;
  if (error !== undefined) return error;
  return exitCode === 0 ? undefined : `Command failed with exit code ${exitCode}`;
}
