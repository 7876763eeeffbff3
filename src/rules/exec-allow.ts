import type { RunContext } from '../engine/context/call-context.ts';
import { programOfEntry } from '../policy/list-entry.ts';
import { toFamilies } from '../tools/settings.ts';
import { type Resolved, rulesFor, rulesForFamily, rulesForShell } from './rules-for.ts';

type Rules = Pick<RunContext, 'rules'>;

/** The rules of every caller of one process: its remote callers, or the local user if there are none. */
export function rulesOfCallers(
  remoteCallers: readonly ('model' | 'app')[] | undefined,
  resolved: Resolved,
): readonly Rules[] {
  if (remoteCallers === undefined) return [rulesFor('everything', resolved)];
  return [
    ...toFamilies(resolved.values.tools).map((family) => rulesForFamily(family, resolved)),
    ...(remoteCallers.includes('app') ? [rulesForShell(resolved)] : []),
  ];
}

/**
 * The programs that Landlock permits when `exec` is on: one list for the whole process, so it is the union of what
 * policy lets each caller run. Undefined if one of them may run every program.
 */
export function execAllowFor(callers: readonly Rules[]): readonly string[] | undefined {
  const names = callers.flatMap(({ rules: { allow, policy = [] } }) => [
    ...(allow.kind === 'all' ? ['*'] : allow.kind === 'names' ? allow.names.map(programOfEntry) : []),
    ...policy.filter(({ verdict }) => verdict === 'allow').map(({ program }) => program),
  ]);
  return names.includes('*') ? undefined : [...new Set(names)];
}
