import { z } from 'zod';
import { toNacreError } from '../../contract/failure.ts';
import type { Outcome } from '../../contract/outcome.ts';
import { commandText, directoryText, envMap, inputText } from '../../contract/request.ts';
import { defineTool } from '../common/define-tool.ts';
import { summariseChanges } from '../common/describe-changes.ts';
import {
  describeEnd,
  describeSideEffects,
  joinStreams,
  nameProcesses,
  omitUndefined,
} from '../common/describe-outcome.ts';
import { limitOutput, toRunLimits } from '../common/fit-reply.ts';
import type { TimeLimits } from '../common/time-limits.ts';
import type { AllowedRun, Tool, ToolContext, ToolReply } from '../common/tool.ts';
import { explainFailure } from './explain-failure.ts';

const inputWithin = ({ defaultMs, maxMs }: TimeLimits) =>
  z.strictObject({
    ...fields,
    timeout: z
      .int()
      .min(1)
      .max(toSeconds(maxMs))
      .default(toSeconds(defaultMs))
      .describe('Seconds after which the command is killed'),
  });

// Settings have milliseconds, at least 1000; a part of a second is dropped.
const toSeconds = (ms: number) => Math.floor(ms / 1_000);

const fields = {
  command: commandText.describe('Shell command to execute'),
  working_directory: directoryText('working_directory')
    .optional()
    .describe("Directory to run it in (default: the server's own)"),
  environment: envMap.optional().describe('Additional environment variables'),
  stdin: inputText.optional().describe('Text for stdin; empty by default'),
};

/** Input of `shell_execute`. */
export type ShellExecuteInput = z.input<ReturnType<typeof inputWithin>>;

const output = z.object({
  command: z.string().optional(),
  exit_code: z.int().min(0).max(255).optional(),
  stdout: z.string().optional(),
  stderr: z.string().optional(),
  execution_time_ms: z.int().min(0).max(86_400_000_000).optional(),
  timeout_seconds: z.int().min(1).max(86_400).optional(),
  partial_stdout: z.string().optional(),
  partial_stderr: z.string().optional(),
  working_directory: z.string().optional(),
  id: z.string().optional().describe('The same id as in the audit log and in log lines'),
  signal: z.string().optional(),
  truncated: z.boolean().optional(),
  resources: z
    .record(z.string(), z.unknown())
    .optional()
    .describe('Resources used by the whole process tree'),
  enforcement: z.record(z.string(), z.unknown()).optional(),
});

/** Metadata of a `shell_execute` reply; for a command that did not run, only fields of the request. */
export type ShellExecuteMetadata = z.output<typeof output>;

/** Result of `shell_execute` for in-process callers. */
export interface ShellExecuteResult {
  readonly content: readonly { readonly type: 'text'; readonly text: string }[];
  readonly is_error: boolean;
  readonly metadata: ShellExecuteMetadata;
}

const description = `Executes a shell command with a timeout and returns exit code, stdout and stderr separately, with the execution time and the resources used.
Background processes end with the command. Long output is cut in the middle.`;

/** `shell_execute`: runs one command and returns a sentence with structured metadata. */
export function shellExecute(
  run: AllowedRun,
  { maxOutputChars, ...limits }: TimeLimits & { readonly maxOutputChars: number },
): Tool {
  return defineTool({
    name: 'shell_execute',
    title: 'Execute a shell command',
    alwaysLoad: true,
    description,
    annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
    choosesMachine: true,
    input: inputWithin(limits),
    output,
    async run({ command, working_directory, timeout, environment, stdin }, context) {
      try {
        const room = toRunLimits(
          limitOutput(context, { defaultChars: maxOutputChars, isSpecified: true, write }),
        );
        const request = {
          command: { kind: 'shell', script: command },
          input: stdin,
          cwd: working_directory,
          env: environment,
          timeoutMs: timeout * 1_000,
          ...room.request,
        } as const;
        const outcome = await run(request, { ...context, ...room.context, howToGetRest });
        return outcome.cause === 'timeout'
          ? timeoutReply(outcome, command, timeout, context)
          : exitReply(outcome, command, context);
      } catch (error) {
        return failureReply(error, { command, working_directory });
      }
    },
    fail: (error) => failureReply(error, {}),
  });
}

const write = (stdout: string, stderr: string) => JSON.stringify([stdout, stderr]);
const howToGetRest = 'Write it to a file, or narrow it with head, tail or grep.';

function exitReply(outcome: Outcome, command: string, context: ToolContext): ToolReply {
  const { exitCode, stdout, stderr, durationMs, cwd } = outcome;
  const reason = explainFailure(outcome);
  const metadata = {
    command,
    exit_code: exitCode ?? undefined,
    stdout,
    stderr,
    execution_time_ms: Math.round(durationMs),
    working_directory: cwd,
    ...additions(outcome),
  };
  const code = exitCode === null ? '' : ` with exit code ${exitCode}`;
  const failed = `Command failed${code}${reason === undefined ? '' : `: ${reason}`}`;
  if (exitCode !== 0 || reason !== undefined)
    return toReply(failed, true, metadata, notesOn(outcome, context));
  const done = context.dryRun ? stdout.trimEnd() : 'Command executed successfully';
  return toReply(done, false, metadata, notesOn(outcome, context));
}

function timeoutReply(outcome: Outcome, command: string, seconds: number, context: ToolContext): ToolReply {
  const metadata = {
    command,
    timeout_seconds: seconds,
    partial_stdout: outcome.stdout,
    partial_stderr: outcome.stderr,
    working_directory: outcome.cwd,
    ...additions(outcome),
  };
  const sentence = describeEnd(outcome, `${seconds} seconds`) ?? '';
  return toReply(sentence, true, metadata, notesOn(outcome, context));
}

function failureReply(
  error: unknown,
  request: Pick<ShellExecuteMetadata, 'command' | 'working_directory'>,
): ToolReply {
  const { message, hint, code } = toNacreError(error);
  const reply = toReply(hint === undefined ? message : `${message} ${hint}`, true, request, []);
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
  const metadata = omitUndefined<unknown>(all);
  const noteTexts = notes.length > 0 ? [notes.join('\n')] : [];
  const content = [sentence, ...noteTexts].map((text) => ({ type: 'text', text }) as const);
  const { stdout = all.partial_stdout ?? '', stderr = all.partial_stderr ?? '' } = all;
  const streams = { success: !isError, output: joinStreams(stdout, stderr), metadata };
  // Only in-process callers get the command back, and what was enforced; a model has just written the command.
  const { command: _command, enforcement: _enforcement, ...news } = metadata;
  return {
    text: sentence,
    moreTexts: [JSON.stringify(news), ...noteTexts],
    structured: news,
    isError,
    logId: all.truncated ? all.id : undefined,
    result: isError ? { ...streams, error: [sentence, ...noteTexts].join('\n') } : streams,
    ownResult: { content, is_error: isError, metadata } satisfies ShellExecuteResult,
  };
}

// The specification fixes the keys of `metadata`, so notes go into a text block.
function notesOn(outcome: Outcome, context: ToolContext): readonly string[] {
  const { leftRunning } = outcome;
  const killed = nameProcesses(leftRunning).join(', ');
  return [
    ...(leftRunning.length > 0 ? [`Killed with the command: ${killed}.`] : []),
    ...(outcome.changes ? [summariseChanges(outcome.changes)] : []),
    ...describeSideEffects(outcome, context),
  ];
}
