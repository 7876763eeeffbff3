import { z } from 'zod';
import type { Outcome } from '../../contract/outcome.ts';
import { type CommandRequest, commandText } from '../../contract/request.ts';
import type { Reading } from '../../engine/read-command.ts';
import type { AllowedCommands, AllowedRun } from '../allowed-run.ts';
import { defineTool, type Tool, type ToolContext, type ToolReply } from '../define-tool.ts';
import { joinStreams } from '../join-streams.ts';
import { newOutput } from './bash-output.ts';
import { notesOn } from './notes.ts';
import { bashFailure, bashReply, failureOutput } from './reply.ts';
import { sessionKey, sessionName } from './session-key.ts';

const defaultTimeoutMs = 120_000;

const input = z.strictObject({
  command: commandText.describe('The command to execute'),
  description: z
    .string()
    .max(1_000, 'must be at most 1000 characters')
    .optional()
    .describe('Clear, concise description of what this command does (5-10 words)'),
  timeout: z
    .int()
    .min(1_000)
    .max(600_000)
    .optional()
    .describe(`Timeout in milliseconds (default ${defaultTimeoutMs}, max 600000)`),
  run_in_background: z
    .boolean()
    .default(false)
    .describe('Run command in background, use BashOutput to read output'),
  session: sessionName
    .optional()
    .describe('Name of the persistent shell (default main); different ones run side by side'),
});

/** What `Bash` takes. */
export type BashInput = z.input<typeof input>;

const output = z.object({
  command: z.string().optional(),
  description: z.string().optional(),
  exit_code: z.int().nullable().optional(),
  stdout: z.string().optional(),
  stderr: z.string().optional(),
  bash_id: z.string().optional().describe('For BashOutput and KillShell'),
  status: z.string().optional(),
  cwd: z.string().optional().describe('Where the shell stands now'),
  duration_ms: z.int().optional(),
  timed_out: z.boolean().optional(),
  signal: z.string().optional(),
  truncated: z.boolean().optional(),
  dry_run: z.boolean().optional(),
  rewritten_command: z.string().optional().describe('What was run in place of the command'),
  queued_ms: z.int().optional(),
  notes: z.array(z.string()).optional(),
  ...failureOutput,
});

const description = `Executes a given bash command in a persistent shell session: directory, variables, functions and aliases stay from call to call.

Usage notes:
- Timeout defaults to ${defaultTimeoutMs}ms (2 minutes), max 600000ms (10 minutes); a command that takes longer is ended, the session lives on
- Output exceeding 30000 characters is truncated in the middle
- Use run_in_background=true for long-running commands, then BashOutput and KillShell
- stdin is empty: nobody can answer a prompt
- Quote file paths with spaces using double quotes
- Use && to chain dependent commands, ; when you don't care if earlier commands fail`;

/** What `Bash` is made with. */
export interface BashMeans {
  readonly run: AllowedRun;
  readonly commands: AllowedCommands;
  /** What becomes of a command that takes longer than its timeout. */
  readonly onTimeout: 'kill' | 'background';
}

/** The tool of 002: a command in a shell that remembers. */
export function bash(means: BashMeans): Tool {
  return defineTool({
    name: 'Bash',
    title: 'Bash',
    description,
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
    input,
    output,
    run: (asked, context) =>
      asked.run_in_background && !context.dryRun
        ? startInBackground(means.commands, asked, context)
        : runInSession(means, asked, context),
    fail: bashFailure,
  });
}

type Asked = z.output<typeof input>;

async function runInSession(means: BashMeans, asked: Asked, context: ToolContext): Promise<ToolReply> {
  const { command, timeout = defaultTimeoutMs } = asked;
  const request: CommandRequest = {
    command: { kind: 'shell', script: command },
    session: sessionKey(context, asked.session),
    timeoutMs: timeout,
    maxOutputChars: 30_000,
    cutAtLines: false,
    quotePaths: true,
  };
  const isDry = context.dryRun === true;
  const caller = { ...context, howToGetRest, onWait: tellWait(context) };
  if (means.onTimeout === 'kill' || isDry) {
    return toReply(await means.run(request, caller), asked, { timeoutMs: timeout, isDry });
  }
  const result = await means.commands.runOrGoOn({ ...request, idPrefix: 'shell' }, caller);
  if (result.kind === 'ended') return toReply(result.outcome, asked, { timeoutMs: timeout, isDry });
  return goesOn(await means.commands.read(result.id, newOutput, context), asked, timeout);
}

// It has had its time: what it said so far is told, and the rest is left to BashOutput.
function goesOn({ id, stdout, stderr, state, isCut }: Reading, asked: Asked, timeoutMs: number): ToolReply {
  const note = `Still running after ${timeoutMs}ms: it goes on as background shell ${id}. Read on with BashOutput, end it with KillShell. The session has a new shell in the state before this command.`;
  const { command, description: what } = asked;
  return bashReply({
    success: true,
    output: withNotes(joinStreams(stdout, stderr), [note]),
    metadata: {
      ...{ command, description: what, exit_code: null, stdout, stderr, bash_id: id, status: state.status },
      ...{ duration_ms: state.durationMs, timed_out: true, notes: [note] },
    },
    logOf: isCut ? id : undefined,
  });
}

const howToGetRest = (id: string) =>
  `Read all of it in pieces with BashOutput (bash_id ${id}), or narrow it with head, tail or grep.`;

function tellWait({ onProgress }: ToolContext): (ahead: number) => void {
  return (ahead) => {
    const lastLine = `waiting for ${ahead} earlier ${ahead === 1 ? 'command' : 'commands'} in the same session`;
    onProgress?.({ elapsedMs: 0, bytes: 0, lines: 0, lastLine });
  };
}

async function startInBackground(
  commands: AllowedCommands,
  asked: Asked,
  context: ToolContext,
): Promise<ToolReply> {
  const { command, description: what, timeout = null } = asked;
  const { id } = await commands.start(
    {
      command: { kind: 'shell', script: command },
      beginsAs: sessionKey(context, asked.session),
      idPrefix: 'shell',
      stdin: 'empty',
      timeoutMs: timeout,
      quotePaths: true,
    },
    context,
  );
  return bashReply({
    success: true,
    output: `Started background shell ${id}\nRead its output with BashOutput (bash_id ${id}), end it with KillShell.`,
    metadata: { bash_id: id, command, description: what, status: 'running' },
  });
}

interface Circumstances {
  readonly timeoutMs: number;
  readonly isDry: boolean;
}

function toReply(outcome: Outcome, asked: Asked, { timeoutMs, isDry }: Circumstances): ToolReply {
  const error = toError(outcome, timeoutMs);
  const notes = notesOn(outcome);
  const { stdout, stderr } = outcome;
  return bashReply({
    success: error === undefined,
    output: withNotes(joinStreams(stdout, stderr), notes),
    error,
    metadata: {
      command: asked.command,
      description: asked.description,
      exit_code: outcome.cause === 'timeout' ? null : outcome.exitCode,
      stdout,
      stderr,
      bash_id: outcome.leftRunning.length > 0 ? outcome.id : undefined,
      cwd: outcome.session?.cwd ?? outcome.cwd,
      duration_ms: outcome.durationMs,
      timed_out: outcome.cause === 'timeout' || undefined,
      signal: outcome.signal ?? undefined,
      truncated: outcome.truncated || undefined,
      dry_run: isDry || undefined,
      rewritten_command: outcome.rewrittenCommand,
      queued_ms: outcome.wait?.waitedMs || undefined,
      notes: notes.length > 0 ? notes : undefined,
    },
    logOf: outcome.truncated ? outcome.id : undefined,
    meta: outcome.enforcement
      ? {
          'nacre/id': outcome.id,
          'nacre/enforcement': outcome.enforcement,
          'nacre/resources': outcome.resources,
        }
      : undefined,
  });
}

function withNotes(text: string, notes: readonly string[]): string {
  const border = text === '' || text.endsWith('\n') || notes.length === 0 ? '' : '\n';
  return `${text}${border}${notes.map((note) => `[${note}]`).join('\n')}`;
}

function toError({ cause, exitCode, detail }: Outcome, timeoutMs: number): string | undefined {
  switch (cause) {
    case 'exit':
      return exitCode === 0 ? undefined : `Command failed with exit code ${exitCode}`;
    case 'timeout':
      return `Command timed out after ${timeoutMs}ms and was ended. Give it more time with timeout, or use run_in_background=true.`;
    case 'stopped':
      return 'Command was interrupted before it finished.';
    default:
      return `Command was ended by a limit. ${detail ?? ''}`.trim();
  }
}
