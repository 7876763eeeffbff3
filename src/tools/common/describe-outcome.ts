// Wording and fields that the replies of all tool families share: why a command ended, which processes are left,
// what the sandbox denied.
import type { EndCause, ProcessRef } from '../../contract/job.ts';
import type { Outcome } from '../../contract/outcome.ts';
import { once } from './fit-reply.ts';
import type { ToolContext } from './tool.ts';

/** Causes of an end that are limits or faults. */
export type LimitCause = Exclude<EndCause, 'exit' | 'timeout' | 'stopped'>;

const causes: Readonly<Record<LimitCause, string>> = {
  oom: 'memory exhausted',
  cpu: 'CPU time exhausted',
  processes: 'processes exhausted',
  file_size: 'disk exhausted',
  output_limit: 'output exhausted',
  spool_failed: 'output exhausted',
  supervision_lost: 'supervision lost',
  worker_lost: 'worker lost',
};

const printLess = 'Write the output to a file, or print less of it with head, tail or grep.';

/** The next step after a command hit a limit, or was lost. */
export const limitHints: Readonly<Record<LimitCause, string>> = {
  oom: 'Process less data at a time, or ask the user to raise memory_bytes or tree_memory_bytes.',
  cpu: 'Do less in one command, or ask the user to raise cpu_seconds.',
  processes: 'Start fewer processes at a time (make -j2), or ask the user to raise max_processes.',
  file_size: 'Write smaller files, or ask the user to raise file_bytes.',
  output_limit: printLess,
  spool_failed: printLess,
  supervision_lost: 'Check what it has done so far, then run it again.',
  worker_lost: 'Check what it has done so far, then run it again.',
};

/** Says why a command did not run to its own end, without a final period for a timeout; undefined for `exit`. */
export function describeEnd(
  { cause, detail }: Pick<Outcome, 'cause' | 'detail'>,
  timeLimit: string,
): string | undefined {
  switch (cause) {
    case 'exit':
      return undefined;
    case 'timeout':
      return `Command timed out after ${timeLimit}`;
    case 'stopped':
      return 'Command was stopped before it finished.';
    default:
      return `Command failed: ${describeLimit(cause, detail)}`;
  }
}

/** Names the exhausted resource or the fault, followed by the measured values in `detail`. */
export function describeLimit(cause: LimitCause, detail: string | null): string {
  return `${causes[cause]}.${detail === null ? '' : ` ${detail}`}`;
}

/** Notes on processes that survived, denied hosts and withheld variables, then the outcome's `warnings`. */
export function describeSideEffects(outcome: Outcome, context: ToolContext): readonly string[] {
  const { survivors, deniedHosts, withheldEnv, exitCode, warnings } = outcome;
  const withheld = exitCode !== 0 && withheldEnv.length > 0 && once(context, `withheld: ${withheldEnv}`);
  return [
    ...(survivors.length > 0 ? [`Could not be killed: ${nameProcesses(survivors).join(', ')}.`] : []),
    ...(deniedHosts.length > 0 ? [`Denied hosts: ${deniedHosts.join(', ')}.`] : []),
    ...(withheld ? [`Withheld variables: ${withheldEnv.join(', ')}.`] : []),
    ...warnings,
  ];
}

/** `_meta` of a reply: the audit id, what was enforced and what the process tree used; undefined if nothing ran. */
export function toOutcomeMeta({
  id,
  enforcement,
  resources,
}: Pick<Outcome, 'id' | 'enforcement' | 'resources'>) {
  if (enforcement === null) return undefined;
  return { 'nacre/id': id, 'nacre/enforcement': enforcement, 'nacre/resources': resources };
}

const maxNamed = 20;
const maxNameChars = 120;

/** One line for each of the first 20 processes, so that a reply stays small. */
export function nameProcesses(processes: readonly ProcessRef[]): readonly string[] {
  const named = processes.slice(0, maxNamed).map(({ pid, command }) => `${shorten(command)} (pid ${pid})`);
  const more = processes.length - named.length;
  return more > 0 ? [...named, `${more} more`] : named;
}

function shorten(command: string): string {
  const line = command.replace(/\s+/g, ' ');
  return line.length > maxNameChars ? `${line.slice(0, maxNameChars)}…` : line;
}

/** Joins both streams into one text, stderr after a line `[stderr]`. */
export function joinStreams(stdout: string, stderr: string): string {
  if (stderr === '') return stdout;
  const separator = stdout === '' || stdout.endsWith('\n') ? '' : '\n';
  return `${stdout}${separator}[stderr]\n${stderr}`;
}

/** Copies an object without its undefined fields. */
export function omitUndefined<Value>(
  fields: Readonly<Record<string, Value | undefined>>,
): Record<string, Value> {
  const kept = Object.entries(fields).filter((entry): entry is [string, Value] => entry[1] !== undefined);
  return Object.fromEntries(kept);
}
