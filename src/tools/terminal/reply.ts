import { toNacreError } from '../../contract/failure.ts';
import type { ProcessRef } from '../../contract/job.ts';
import type { Outcome } from '../../contract/outcome.ts';
import { toYamlReply, type YamlValue } from '../../output/yaml-reply.ts';
import type { ToolReply } from '../define-tool.ts';
import { nameProcesses } from '../name-processes.ts';

type Entries = Readonly<Record<string, YamlValue | undefined>>;
type Shown = Omit<Outcome, 'exitCode'> & { readonly exitCode: number | null };

/** What a command came to: YAML whose first keys are always the same, and the same as data. */
export function terminalReply(outcome: Shown, problem: { error?: string; hint?: string }): ToolReply {
  const failed = outcome.exitCode !== 0;
  const reply = toReply(
    {
      exit_code: outcome.exitCode,
      stdout: outcome.stdout,
      stderr: outcome.stderr,
      signal: outcome.signal,
      truncated: outcome.truncated || undefined,
      command_id: outcome.truncated ? outcome.id : undefined,
      left_running: names(outcome.leftRunning),
      still_running: names(outcome.survivors),
      denied_hosts: nonEmpty(outcome.deniedHosts),
      withheld_env: failed ? nonEmpty(outcome.withheldEnv) : undefined,
      warnings: nonEmpty(outcome.warnings),
      ...problem,
    },
    problem.error !== undefined,
    outcome.enforcement === null
      ? undefined
      : {
          'nacre/id': outcome.id,
          'nacre/enforcement': outcome.enforcement,
          'nacre/resources': outcome.resources,
        },
  );
  return outcome.truncated ? { ...reply, logOf: outcome.id } : reply;
}

/** What kept a command from running, in the same form. */
export function terminalFailure(error: unknown): ToolReply {
  const { code, message, hint } = toNacreError(error);
  return toReply({ exit_code: null, stdout: '', stderr: '', error: message, code, hint }, true);
}

/** A reply of these keys, as YAML and as data. */
export function toReply(entries: Entries, isError: boolean, meta?: ToolReply['meta']): ToolReply {
  const structured = said(entries);
  return { text: toYamlReply(structured), structured, isError, ...(meta && { meta }) };
}

/** A reply with more keys, or with the same ones in another order. */
export function withKeys(
  reply: ToolReply,
  change: (structured: Entries) => Entries,
  isError = reply.isError,
): ToolReply {
  return { ...reply, ...toReply(change(reply.structured as Entries), isError) };
}

/** Keys that have something to say: null is an answer only for an exit code. */
export function said(entries: Entries): Record<string, YamlValue> {
  const kept = Object.entries(entries).filter((entry): entry is [string, YamlValue] => {
    const [key, value] = entry;
    return value !== undefined && (value !== null || key === 'exit_code');
  });
  return Object.fromEntries(kept);
}

/** Processes for people, where there are some. */
export function names(processes: readonly ProcessRef[]): readonly string[] | undefined {
  return nonEmpty(nameProcesses(processes));
}

/** A list that has something in it. */
export function nonEmpty(list: readonly string[]): readonly string[] | undefined {
  return list.length === 0 ? undefined : list;
}
