// Replies of the Bash tools: a `ToolResult` for in-process callers, and the same as text and data for models.
import { z } from 'zod';
import { NacreError, toNacreError } from '../../contract/failure.ts';
import type { Outcome } from '../../contract/outcome.ts';
import type { Restoration } from '../../contract/session.ts';
import type { ToolResult } from '../../contract/tool-result.ts';
import { nameTools } from '../../support/name-tools.ts';
import { summariseChanges } from '../common/describe-changes.ts';
import { describeSideEffects, nameProcesses, omitUndefined } from '../common/describe-outcome.ts';
import type { ToolContext, ToolReply } from '../common/tool.ts';

/** Result of a Bash tool with the fields that only its reply has. */
export interface BashResult extends ToolResult {
  /** The request, as `metadata` for in-process callers; a model has just written it. */
  readonly request?: Readonly<Record<string, string | undefined>> | undefined;
  readonly meta?: ToolReply['meta'];
  readonly logId?: ToolReply['logId'];
}

/** Builds a reply from a result; undefined `metadata` fields are dropped. */
export function bashReply({ request, metadata: all, ...reply }: BashResult): ToolReply {
  const { success, output, error, meta, logId } = reply;
  const metadata = omitUndefined(all);
  const asked = omitUndefined<unknown>(request ?? {});
  const result = {
    success,
    output,
    ...(error !== undefined && { error }),
    metadata: { ...asked, ...metadata },
  };
  const text = [output, error].filter((part) => part !== undefined && part !== '').join('\n') || noOutput;
  const structured = error === undefined ? metadata : { ...metadata, error };
  return { text, structured, isError: !success, result, logId, ...(meta && { meta }) };
}

const noOutput = '(no output)';

/** Output schema fields of a failed call. */
export const failureOutput = {
  error: z.string().optional(),
  code: z.string().optional(),
  hint: z.string().optional(),
  rule: z.string().optional(),
  program: z.string().optional(),
};

/** Replies with an error that kept a tool from doing its work; `command` is the one that a rule may have denied. */
export function bashFailure(error: unknown, command?: string): ToolReply {
  const { code, message, hint, details } = toNacreError(error);
  const { rule, program } = details;
  // `policy_denied` without a rule: the user has paused nacre.
  const blocked = rule === undefined ? 'Command blocked: ' : `${describeBlocked(command)}\n`;
  const problem = code === 'policy_denied' ? `${blocked}${message}` : message;
  const sentence = hint === undefined ? problem : `${problem} ${hint}`;
  return bashReply({
    success: false,
    output: '',
    error: sentence,
    metadata: { code, hint, rule, program },
  });
}

const maxCommandChars = 200;

function describeBlocked(command = ''): string {
  const shown = command.length > maxCommandChars ? `${command.slice(0, maxCommandChars)}…` : command;
  return `Command blocked for security reasons: ${shown.toWellFormed()}`;
}

/** Rethrows an error about a shell; `job_not_found` becomes "Shell not found". */
export function rethrowShellError(error: unknown, id: string): never {
  if (!(error instanceof NacreError) || error.code !== 'job_not_found') throw error;
  throw new NacreError('job_not_found', `Shell not found: ${id}.`, {
    hint: 'List the open shells with ListShells.',
  });
}

/** Notes that follow a command's output: what happened to the session's shell, and side effects of the command. */
export function notesOn(outcome: Outcome, context: ToolContext): readonly string[] {
  const { id, session, leftRunning } = outcome;
  return [
    ...(session?.restored && session.restored.reason !== 'layer' ? [describeRestored(session.restored)] : []),
    ...(session?.shellEnded ? [describeShellEnd(outcome, session.cwd)] : []),
    ...(session?.ran === false ? [notRun] : []),
    ...(leftRunning.length > 0 ? [describeLeft(nameProcesses(leftRunning).join(', '), id, context)] : []),
    ...(outcome.changes ? [summariseChanges(outcome.changes)] : []),
    ...describeSideEffects(outcome, context),
  ];
}

function describeLeft(names: string, id: string, { toolPrefix }: ToolContext): string {
  const how = nameTools(toolPrefix, `Read their output with BashOutput (bash_id ${id}).`);
  return `Still running in this session: ${names}. ${how}`;
}

const reasons: Readonly<Record<Restoration['reason'], string>> = {
  ended: 'had ended',
  idle: 'was closed because it was idle',
  moved: 'moved to the background with its command',
  layer: 'ends with each command whose changes are tracked or held',
};

function describeRestored({ reason, variables, functions, aliases, lost }: Restoration): string {
  const restored = `directory, ${variables} variables, ${functions} functions, ${aliases} aliases and the options`;
  return `The session's shell ${reasons[reason]}. A new shell has its ${restored}; not restored: ${lost.join(', ')}.`;
}

const notRun =
  "The command was not run: the files for its output, in nacre's own folder, were deleted or replaced. The next command gets new ones: call again.";

function describeShellEnd({ cause, exitCode }: Outcome, cwd: string): string {
  const byCommand = `The command ended its shell${exitCode === 0 ? ', as exit, exec and set -n do' : ''}`;
  const why = cause === 'exit' ? byCommand : 'The shell was killed with the command';
  return `${why}; the next command gets a new one in ${cwd}, in the state before this command.`;
}
