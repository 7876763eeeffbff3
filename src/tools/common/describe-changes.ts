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
// PATH_MAX is 4,096, so the number of paths alone does not bound a reply.
const maxPathsChars = 4_000;

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
  const paths = fitToReply(list.changes.map(describeChange));
  return { state, id, ...toCounts(list), paths, ...toRest(list, paths.length) };
}

/** Returns the first texts that together have at most `maxPathsChars` characters, and always the first one. */
function fitToReply(texts: readonly string[]): readonly string[] {
  let chars = 0;
  const end = texts.findIndex((text, index) => {
    chars += text.length;
    return index > 0 && chars > maxPathsChars;
  });
  return end < 0 ? texts : texts.slice(0, end);
}

function toCounts({ created, changed, deleted, mode, bytes }: ChangeList) {
  return Object.fromEntries(
    Object.entries({ created, changed, deleted, mode, bytes }).filter(([, count]) => count > 0),
  );
}

function toRest({ created, changed, deleted, mode, conflicts }: ChangeList, shownPaths: number) {
  const more = created + changed + deleted + mode - shownPaths;
  const shown = fitToReply(conflicts.slice(0, maxConflicts));
  return {
    ...(more > 0 && { more_paths: more }),
    ...(shown.length > 0 && { conflicts: shown }),
    ...(conflicts.length > shown.length && { more_conflicts: conflicts.length - shown.length }),
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
      : ` Not replaced, because another program has changed it: ${conflicts.slice(0, maxConflicts).map(toOneLine).join(', ')}.`;
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
