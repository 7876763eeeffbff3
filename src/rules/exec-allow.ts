import type { ExecList } from '../contract/isolation.ts';
import type { RunContext } from '../engine/context/call-context.ts';
import { programOfEntry } from '../policy/entry-words.ts';
import { toExecList } from '../policy/to-exec-list.ts';
import type { SettingNote } from '../settings/setting-in-force.ts';
import { describeAutoExec } from '../support/describe-exec.ts';
import { toFamilies } from '../tools/settings.ts';
import { type Resolved, rulesFor, rulesForFamily, rulesForShell } from './rules-for.ts';

type Rules = Pick<RunContext, 'rules'>;

/** The rules of every caller of one process: its remote callers, or the local user if there are none. */
export function rulesOfCallers(
  remoteCallers: readonly ('model' | 'app')[] | undefined,
  resolved: Resolved,
): readonly Rules[] {
  if (remoteCallers === undefined) return [rulesFor('cli', resolved)];
  return [
    ...toFamilies(resolved.values.tools).map((family) => rulesForFamily(family, resolved)),
    ...(remoteCallers.includes('app') ? [rulesForShell(resolved)] : []),
  ];
}

/**
 * The programs that Landlock permits when `exec` is on: one list for the whole process, so it is the union of what
 * policy lets each caller run. Undefined if one of them may run every program.
 */
export function execAllowFor(callers: readonly Rules[]): ExecList | undefined {
  const names = callers.flatMap(({ rules: { allow, policy = [] } }) => [
    ...(allow.kind === 'all' ? ['*'] : allow.kind === 'names' ? allow.names.map(programOfEntry) : []),
    ...policy.filter(({ verdict }) => verdict === 'allow').map(({ program }) => program),
  ]);
  return names.includes('*') ? undefined : toExecList([...new Set(names)]);
}

/** Says what `exec: auto` enforces for the local user; undefined for another value. */
export function noteOnExec(resolved: Resolved): SettingNote | undefined {
  if (resolved.values.exec !== 'auto') return undefined;
  const list = execAllowFor(rulesOfCallers(undefined, resolved));
  const isClosed = list !== undefined && list.open.length === 0;
  const text = `${describeAutoExec(list)}${isClosed ? ', if it has Landlock (nacre doctor)' : ''}`;
  return { text, isWarning: list !== undefined && !isClosed };
}

/** `execAllowFor` for settings that may change: the same object as long as they do not. */
export function followExecAllow(
  remoteCallers: readonly ('model' | 'app')[] | undefined,
  now: () => Resolved,
): () => ExecList | undefined {
  let seen: Resolved | undefined;
  let list: ExecList | undefined;
  return () => {
    const resolved = now();
    if (resolved !== seen) list = execAllowFor(rulesOfCallers(remoteCallers, resolved));
    seen = resolved;
    return list;
  };
}
