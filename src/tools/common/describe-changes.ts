// The changes of a command in replies: counts and the first paths, never their content.
import type { Change, ChangeList, CommandChanges } from '../../contract/changes.ts';
import { toOneLine } from '../../support/escape-controls.ts';

const signs: Readonly<Record<Change['kind'], string>> = {
  created: '+',
  changed: '~',
  deleted: '-',
  mode: 'm',
};
const maxConflicts = 10;

/** One changed path on a line, as `+ path`, `~ path`, `- path` or `m path`; `!` marks a conflict. */
export function describeChange({ kind, path, after, before, conflict }: Change): string {
  const isFolder = (after ?? before)?.type === 'folder';
  return `${conflict ? '! ' : ''}${signs[kind]} ${path}${isFolder && !path.endsWith('/') ? '/' : ''}`;
}

/** The keys of a reply about changes; a count of zero is left out. */
export function toChangesReply({
  id,
  state,
  ...list
}: CommandChanges | (ChangeList & { id: string; state: string })) {
  return { state, id, ...toCounts(list), paths: list.changes.map(describeChange), ...toRest(list) };
}

function toCounts({ created, changed, deleted, mode, bytes }: ChangeList) {
  return Object.fromEntries(
    Object.entries({ created, changed, deleted, mode, bytes }).filter(([, count]) => count > 0),
  );
}

function toRest({ created, changed, deleted, mode, changes, conflicts }: ChangeList) {
  const more = created + changed + deleted + mode - changes.length;
  return {
    ...(more > 0 && { more_paths: more }),
    ...(conflicts.length > 0 && { conflicts: conflicts.slice(0, maxConflicts) }),
    ...(conflicts.length > maxConflicts && { more_conflicts: conflicts.length - maxConflicts }),
  };
}

/** The changes of a command in one sentence. */
export function summariseChanges({
  id,
  state,
  created,
  changed,
  deleted,
  mode,
  conflicts,
}: CommandChanges): string {
  const counts = [
    [created, 'created'],
    [changed, 'changed'],
    [deleted, 'deleted'],
    [mode, 'with another mode'],
  ] as const;
  const parts = counts.filter(([count]) => count > 0).map(([count, word]) => `${count} ${word}`);
  const what = { applied: 'applied', held: 'held, not applied', partial: 'applied in part' }[state];
  const problem =
    conflicts.length === 0
      ? ''
      : ` Not replaced, because another program has changed it: ${conflicts.slice(0, maxConflicts).join(', ')}.`;
  return `Changes ${id} are ${what}: ${parts.join(', ')}.${problem}`;
}

/** Held changes for the user who has to approve them: their number, the first paths, and how to see all of it. */
export function describeHeldChanges(list: CommandChanges): readonly string[] {
  const { id, created, changed, deleted, mode, changes } = list;
  const total = created + changed + deleted + mode;
  const more = total - changes.length;
  return [
    `${total} ${total === 1 ? 'path' : 'paths'}, not applied yet; nacre changes ${id} shows them`,
    ...changes.map((change) => toOneLine(describeChange(change))),
    ...(more > 0 ? [`and ${more} more`] : []),
  ];
}
