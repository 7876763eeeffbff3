import type { ExecList } from '../contract/isolation.ts';
import type { RunContext } from '../engine/context/call-context.ts';
import { execListFor } from '../policy/to-exec-list.ts';
import type { SettingNote } from '../settings/setting-in-force.ts';
import { describeAutoExec } from '../support/describe-exec.ts';
import { toFamilies } from '../tools/settings.ts';
import { type Resolved, rulesFor, rulesForFamily, rulesForShell } from './rules-for.ts';

type RemoteCallers = readonly ('model' | 'app')[] | undefined;

/**
 * The list of most commands of a process, for shells that are started in advance and for reports: that of the first
 * tool family, or of the local user if there are no remote callers. The kernel restricts each command to the list of
 * its own caller.
 */
export function execAllowFor(remoteCallers: RemoteCallers, resolved: Resolved): ExecList | undefined {
  const [family] = toFamilies(resolved.values.tools);
  const isLocal = remoteCallers === undefined || family === undefined;
  return toList(isLocal ? rulesFor('cli', resolved) : rulesForFamily(family, resolved));
}

/** Says what `exec: auto` enforces for the local user; undefined for another value. */
export function noteOnExec(resolved: Resolved): SettingNote | undefined {
  if (resolved.values.exec !== 'auto') return undefined;
  const list = execAllowFor(undefined, resolved);
  const isClosed = list !== undefined && list.open.length === 0;
  const text = `${describeAutoExec(list, resolved.values.sandbox)}${isClosed ? ', if it has Landlock (nacre doctor)' : ''}`;
  return { text, isWarning: list !== undefined && !isClosed };
}

/** A clause about what `exec: auto` enforces on POST /api/shell, if that differs from the tools. */
export function noteOnApps(remoteCallers: RemoteCallers, resolved: Resolved): string | undefined {
  if (resolved.values.exec !== 'auto' || !remoteCallers?.includes('app')) return undefined;
  const { sandbox } = resolved.values;
  const note = describeAutoExec(toList(rulesForShell(resolved)), sandbox);
  return note === describeAutoExec(execAllowFor(remoteCallers, resolved), sandbox) ? undefined : note;
}

function toList({ rules }: Pick<RunContext, 'rules'>): ExecList | undefined {
  const list = execListFor(rules);
  return list === 'any' ? undefined : list;
}
