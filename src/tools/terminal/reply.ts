// Replies of the terminal tools: YAML text, and the same keys as structured content. A key without a value is left out.
import { z } from 'zod';
import { toNacreError } from '../../contract/failure.ts';
import type { EndCause, ProcessRef } from '../../contract/job.ts';
import type { Outcome } from '../../contract/outcome.ts';
import type { Reading, ReadQuery } from '../../engine/reading/read-command.ts';
import { toYamlReply, type YamlValue } from '../../output/yaml-reply.ts';
import { toChangesReply } from '../common/describe-changes.ts';
import { nameProcesses, toOutcomeMeta } from '../common/describe-outcome.ts';
import { once } from '../common/fit-reply.ts';
import type { AllowedCommands, ToolContext, ToolReply } from '../common/tool.ts';

type Entries = Readonly<Record<string, YamlValue | undefined>>;

/**
 * Replies with the outcome of `execute_command`: `exit_code` comes first, then what must not be lost if a client cuts the
 * reply, then `stdout` and `stderr`.
 */
export function outcomeReply(
  outcome: Outcome,
  problem: { readonly error?: string | undefined; readonly hint?: string | undefined },
  context: ToolContext,
): ToolReply {
  const { leftOut } = outcome;
  const withheld = outcome.exitCode === 0 ? [] : outcome.withheldEnv;
  const reply = toReply(
    {
      exit_code: outcome.exitCode,
      error: problem.error,
      signal: outcome.signal,
      cause: toFault(outcome.cause),
      truncated: outcome.truncated || undefined,
      left_out: leftOut && { ...leftOut },
      changes: outcome.changes && toChangesReply(outcome.changes),
      command_id: outcome.truncated ? outcome.id : undefined,
      stdout: outcome.stdout,
      stderr: outcome.stderr,
      left_running: names(outcome.leftRunning),
      still_running: names(outcome.survivors),
      denied_hosts: nonEmpty(outcome.deniedHosts),
      withheld_env: once(context, `withheld: ${withheld}`) && nonEmpty(withheld),
      warnings: nonEmpty(outcome.warnings),
      hint: problem.hint ?? (outcome.truncated ? once(context, truncatedHint) : undefined),
    },
    problem.error !== undefined,
    toOutcomeMeta(outcome),
  );
  return outcome.truncated ? { ...reply, logId: outcome.id } : reply;
}

// The other causes are visible from the exit code, the signal or the error.
function toFault(cause: EndCause): EndCause | undefined {
  return cause === 'supervision_lost' || cause === 'worker_lost' ? cause : undefined;
}

const truncatedHint =
  'Read what was left out with read_output and the command_id, or narrow the output with head, tail or grep.';

/** Output schema of the tools that read a started command; rare keys are not listed, to keep it short. */
export const commandOutput = z.looseObject({
  command_id: z.string().optional(),
  status: z.string().optional(),
  exit_code: z.number().nullable().optional(),
  reason: z.string().optional(),
  stdout: z.string(),
  stderr: z.string(),
});

/** Replies with the state and the new output of a started command; `stdout` and `stderr` come last. */
export function commandReply(reading: Reading): ToolReply {
  const {
    id,
    name,
    state,
    wakeReason,
    prompt,
    stdout,
    stderr,
    next,
    leftOutFrom,
    leftOutBytes,
    isCut,
    unreadBytes,
    screen,
    hint,
  } = reading;
  const { end } = state;
  const reply = toReply(
    {
      command_id: id,
      name,
      status: state.status,
      ...(end && { exit_code: end.exitCode }),
      signal: end?.signal,
      cause: end ? toFault(end.cause) : undefined,
      reason: wakeReason,
      awaiting_input: prompt === null ? undefined : true,
      prompt: prompt ?? undefined,
      truncated: isCut || undefined,
      left_out: leftOutBytes === null ? undefined : { bytes: leftOutBytes },
      left_out_from: leftOutFrom,
      unread_bytes: unreadBytes || undefined,
      cursor: next,
      detail: end?.detail,
      changes: end?.changes && toChangesReply(end.changes),
      changes_note: state.changesNote ?? end?.changesNote,
      stdout,
      stderr,
      ...(screen && { screen: screen.text, screen_cursor: screen.cursor }),
      still_running: names(end?.survivors ?? []),
      denied_hosts: nonEmpty(end?.deniedHosts ?? []),
      // Sent without `once`, because the hint is about this command, such as a program that the kernel stopped.
      hint: hint ?? undefined,
    },
    false,
  );
  return isCut ? { ...reply, logId: id } : reply;
}

/**
 * Reads a command that was just started, written to or stopped. If the read fails, the reply has the error and also the
 * command's id and state, because the command is still there.
 */
export async function readAfter(
  commands: AllowedCommands,
  id: string,
  query: ReadQuery,
  context: ToolContext,
): Promise<ToolReply> {
  try {
    return commandReply(await commands.read(id, query, context));
  } catch (error) {
    const plain = { ...query, cursor: undefined, filter: undefined, waitFor: undefined, waitMs: 0 };
    const reply = commandReply(await commands.read(id, plain, context));
    const { code, message, hint } = toNacreError(error);
    return withKeys(reply, (keys) => ({ error: message, code, ...keys, hint }), true);
  }
}

/** Replies with an error that kept a tool from doing its work; has the same first keys as `outcomeReply`. */
export function terminalFailure(error: unknown): ToolReply {
  const { code, message, hint } = toNacreError(error);
  return toReply({ exit_code: null, error: message, code, stdout: '', stderr: '', hint }, true);
}

/** Builds a reply from its keys. */
export function toReply(entries: Entries, isError: boolean, meta?: ToolReply['meta']): ToolReply {
  const structured = withoutEmpty(entries);
  return { text: toYamlReply(structured), structured, isError, ...(meta && { meta }) };
}

/** Adds keys to a reply, or reorders them. */
export function withKeys(
  reply: ToolReply,
  change: (structured: Entries) => Entries,
  isError = reply.isError,
): ToolReply {
  return { ...reply, ...toReply(change(reply.structured as Entries), isError) };
}

/** Drops undefined and null values; only `exit_code` may be null. */
export function withoutEmpty(entries: Entries): Record<string, YamlValue> {
  const kept = Object.entries(entries).filter((entry): entry is [string, YamlValue] => {
    const [key, value] = entry;
    return value !== undefined && (value !== null || key === 'exit_code');
  });
  return Object.fromEntries(kept);
}

function names(processes: readonly ProcessRef[]): readonly string[] | undefined {
  return nonEmpty(nameProcesses(processes));
}

function nonEmpty(list: readonly string[]): readonly string[] | undefined {
  return list.length === 0 ? undefined : list;
}
