import { closeSync, constants, fstatSync, openSync, readlinkSync, readSync } from 'node:fs';
import { join } from 'node:path';
import type { ShowLimits, ShownChanges } from '../../contract/backend.ts';
import type { Change, ChangesAction, ShownChange } from '../../contract/changes.ts';
import { unifiedDiff } from '../../support/unified-diff.ts';
import type { ChangesStore } from './changes-store.ts';
import type { Versions } from './entries.ts';

// A diff of larger files would block the server, and no one reads it.
const maxFileBytes = 1_048_576;

/** The changes of a command with the differences of text files, as far as they fit into `maxChars`. */
export async function showStoredChanges(
  store: ChangesStore,
  action: ChangesAction,
  { maxFiles, maxChars }: ShowLimits,
): Promise<ShownChanges> {
  const found = await store.scan(action, maxFiles);
  const versions = store.versionsOf(action.id);
  let left = maxChars;
  const changes = found.changes.map((change): ShownChange => {
    const shown = show(change, versions);
    if (shown.diff === undefined) return shown;
    left -= shown.diff.length;
    return left >= 0 ? shown : { ...change, note: 'left out, because the reply would be too long' };
  });
  return { ...found, changes };
}

function show(change: Change, versions: Versions): ShownChange {
  const { before, after, kind, path } = change;
  const isText = [before, after].every((one) => !one || one.type === 'file' || one.type === 'symlink');
  if (kind === 'mode' || !isText) return change;
  if (Math.max(before?.bytes ?? 0, after?.bytes ?? 0) > maxFileBytes)
    return { ...change, note: 'too large for a diff' };
  const texts = [versions.before(path), versions.after(path)].map(
    (place, index) => place && (index === 0 ? before : after) && readText(place),
  );
  if (texts.includes(null)) return { ...change, note: 'binary' };
  return { ...change, diff: unifiedDiff(texts[0] ?? '', texts[1] ?? '') };
}

/** The text of a file, or the target of a symlink; null if it is binary or cannot be read. */
function readText([folder, path]: readonly [string, string]): string | null {
  const place = join(folder, path);
  try {
    return `${readlinkSync(place)}\n`;
  } catch {
    return readFile(place);
  }
}

function readFile(place: string): string | null {
  try {
    const fd = openSync(place, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const { size } = fstatSync(fd);
      const bytes = Buffer.alloc(Math.min(size, maxFileBytes));
      const read = readSync(fd, bytes, 0, bytes.length, 0);
      const text = bytes.toString('utf8', 0, read);
      return text.includes('\0') || text.includes('\ufffd') ? null : text;
    } finally {
      closeSync(fd);
    }
  } catch {
    return null;
  }
}
