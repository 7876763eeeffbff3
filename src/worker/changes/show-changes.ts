import type { ShowLimits, ShownChanges } from '../../contract/backend.ts';
import type { Change, ChangesAction, ShownChange } from '../../contract/changes.ts';
import { unifiedDiff } from '../../support/unified-diff.ts';
import type { ChangesStore, ChangeVersions } from './changes-store.ts';
import { readVersion, type VersionPlace, type VersionText } from './read-version.ts';

// A diff of larger files would block the server and would be too long to read.
const maxFileBytes = 1_048_576;

/** The changes of a command with the differences of text files, as far as they fit into `maxChars`. */
export async function showStoredChanges(
  store: ChangesStore,
  action: ChangesAction,
  { maxFiles, maxChars }: ShowLimits,
): Promise<ShownChanges> {
  const { result, versions } = await store.scanVersions(action, maxFiles);
  let left = maxChars;
  const changes: ShownChange[] = [];
  for (const [index, change] of result.changes.entries()) {
    const shown = left > 0 ? await show(change, versions[index] ?? {}) : leaveOut(change);
    left -= shown.diff?.length ?? 0;
    changes.push(left >= 0 ? shown : leaveOut(change));
  }
  return { ...result, changes };
}

function leaveOut(change: Change): ShownChange {
  return hasText(change) ? { ...change, note: 'left out, because the reply would be too long' } : change;
}

async function show(change: Change, { before, after }: ChangeVersions): Promise<ShownChange> {
  if (!hasText(change)) return change;
  if (Math.max(change.before?.bytes ?? 0, change.after?.bytes ?? 0) > maxFileBytes)
    return { ...change, note: 'too large for a diff' };
  const old = await read(change.before && before);
  const now = await read(change.after && after);
  if ('reason' in old) return { ...change, note: old.reason };
  if ('reason' in now) return { ...change, note: now.reason };
  return { ...change, diff: unifiedDiff(old.text, now.text) };
}

function hasText({ kind, before, after }: Change): boolean {
  const isText = [before, after].every((one) => !one || one.type === 'file' || one.type === 'symlink');
  return kind !== 'mode' && isText;
}

async function read(place: VersionPlace | undefined): Promise<VersionText> {
  return place ? readVersion(place, maxFileBytes) : { text: '' };
}
