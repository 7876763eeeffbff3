import { z } from 'zod';
import { toNacreError } from '../../contract/failure.ts';
import type { Outcome } from '../../contract/outcome.ts';
import { commandText, directoryText, envMap } from '../../contract/request.ts';
import type { AllowedRun } from '../allowed-run.ts';
import { defineTool, type Tool, type ToolReply } from '../define-tool.ts';
import { joinStreams } from '../join-streams.ts';
import { nameProcesses } from '../name-processes.ts';
import { explainFailure } from './explain-failure.ts';

const input = z.strictObject({
  command: commandText.describe('Shell command to execute'),
  working_directory: directoryText('working_directory')
    .optional()
    .describe("Directory to run it in (default: the server's own)"),
  timeout: z.int().min(1).max(1_800).default(300).describe('Seconds after which the command is ended'),
  environment: envMap.optional().describe('Additional environment variables'),
});

/** What `shell_execute` takes. */
export type ShellExecuteInput = z.input<typeof input>;

const output = z.object({
  command: z.string().optional(),
  exit_code: z.int().min(0).max(255).optional(),
  stdout: z.string().optional(),
  stderr: z.string().optional(),
  execution_time_ms: z.int().min(0).max(86_400_000_000).optional(),
  timeout_seconds: z.int().min(1).max(1_800).optional(),
  partial_stdout: z.string().optional(),
  partial_stderr: z.string().optional(),
  working_directory: z.string().optional(),
  id: z.string().optional().describe('The same in the audit log and in log lines'),
  signal: z.string().optional(),
  truncated: z.boolean().optional(),
  resources: z.record(z.string(), z.unknown()).optional().describe('What the whole process tree used'),
  enforcement: z.record(z.string(), z.unknown()).optional(),
});

/** What `shell_execute` tells of a command; one that did not run has nothing but what was asked. */
export type ShellExecuteMetadata = z.output<typeof output>;

/** The reply of `shell_execute` for a program in this process. */
export interface ShellExecuteResult {
  readonly content: readonly { readonly type: 'text'; readonly text: string }[];
  readonly is_error: boolean;
  readonly metadata: ShellExecuteMetadata;
}

const description = `Executes a shell command with a timeout and returns exit code, stdout and stderr apart, with the time it took and what it used.
stdin is empty, and background processes end with the command. Long output keeps its beginning and end.`;

/** The tool of 001: one command, structured metadata. */
export function shellExecute(run: AllowedRun, { maxOutputChars }: { maxOutputChars: number }): Tool {
  return defineTool({
    name: 'shell_execute',
    title: 'Execute a shell command',
    description,
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
    input,
    output,
    async run({ command, working_directory, timeout, environment }, context) {
      try {
        const outcome = await run(
          {
            command: { kind: 'shell', script: command },
            cwd: working_directory,
            env: environment,
            timeoutMs: timeout * 1_000,
            maxOutputChars,
          },
          { ...context, howToGetRest },
        );
        return outcome.cause === 'timeout'
          ? timedOut(outcome, command, timeout)
          : ended(outcome, command, context.dryRun === true);
      } catch (error) {
        return refused(error, { command, working_directory });
      }
    },
    fail: (error) => refused(error, {}),
  });
}

const howToGetRest = 'Write it to a file, or narrow it with head, tail or grep.';

function ended(outcome: Outcome, command: string, isDry: boolean): ToolReply {
  const { exitCode, stdout, stderr, durationMs, cwd } = outcome;
  const reason = explainFailure(outcome);
  const metadata = {
    command,
    exit_code: exitCode,
    stdout,
    stderr,
    execution_time_ms: Math.round(durationMs),
    working_directory: cwd,
    ...additions(outcome),
  };
  const failed = `Command failed with exit code ${exitCode}${reason === undefined ? '' : `: ${reason}`}`;
  if (exitCode !== 0 || reason !== undefined) return toReply(failed, true, metadata, notesOn(outcome));
  const done = isDry ? stdout.trimEnd() : 'Command executed successfully';
  return toReply(done, false, metadata, notesOn(outcome));
}

function timedOut(outcome: Outcome, command: string, seconds: number): ToolReply {
  const metadata = {
    command,
    timeout_seconds: seconds,
    partial_stdout: outcome.stdout,
    partial_stderr: outcome.stderr,
    working_directory: outcome.cwd,
    ...additions(outcome),
  };
  return toReply(`Command timed out after ${seconds} seconds`, true, metadata, notesOn(outcome));
}

function refused(error: unknown, asked: Pick<ShellExecuteMetadata, 'command' | 'working_directory'>) {
  const { message, hint, code } = toNacreError(error);
  const reply = toReply(hint === undefined ? message : `${message} ${hint}`, true, asked, []);
  return { ...reply, meta: { 'nacre/code': code } };
}

function additions({ id, signal, truncated, resources, enforcement }: Outcome) {
  return {
    id,
    signal: signal ?? undefined,
    truncated: truncated || undefined,
    resources: resources === null ? undefined : { ...resources },
    enforcement: enforcement === null ? undefined : { ...enforcement },
  };
}

function toReply(
  sentence: string,
  isError: boolean,
  all: ShellExecuteMetadata,
  notes: readonly string[],
): ToolReply {
  const metadata = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
  const beside = notes.length > 0 ? [notes.join('\n')] : [];
  const content = [sentence, ...beside].map((text) => ({ type: 'text', text }) as const);
  const { stdout = all.partial_stdout ?? '', stderr = all.partial_stderr ?? '' } = all;
  const streams = { success: !isError, output: joinStreams(stdout, stderr), metadata };
  return {
    text: sentence,
    moreTexts: [JSON.stringify(metadata), ...beside],
    structured: metadata,
    isError,
    logOf: all.truncated ? all.id : undefined,
    result: isError ? { ...streams, error: [sentence, ...beside].join('\n') } : streams,
    ownResult: { content, is_error: isError, metadata } satisfies ShellExecuteResult,
  };
}

// The keys of the metadata are fixed; what else has to be known stands in a text of its own.
function notesOn(outcome: Outcome): readonly string[] {
  const { leftRunning, survivors, deniedHosts, withheldEnv, exitCode, warnings } = outcome;
  const names = (processes: Outcome['leftRunning']) => nameProcesses(processes).join(', ');
  return [
    ...(leftRunning.length > 0 ? [`Ended with the command: ${names(leftRunning)}.`] : []),
    ...(survivors.length > 0 ? [`Could not be ended: ${names(survivors)}.`] : []),
    ...(deniedHosts.length > 0 ? [`Hosts that were refused: ${deniedHosts.join(', ')}.`] : []),
    ...(exitCode !== 0 && withheldEnv.length > 0 ? [`Variables held back: ${withheldEnv.join(', ')}.`] : []),
    ...warnings,
  ];
}
