import { open, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { hasEnded, recordingSuffix, tailBytes } from './asciicast.ts';

/** Limits on the age and the total size of recordings. */
export interface RecordingLimits {
  readonly keepDays: number;
  readonly maxBytes: number;
}

/** Interval of `utimes` on a recording that is being written; one untouched for three intervals counts as abandoned. */
export const touchEveryMs = 3_600_000;
const abandonedMs = 3 * touchEveryMs;
const dayMs = 86_400_000;

/** Deletes recordings older than `keepDays`, and the oldest beyond `maxBytes`; never one that is being written. */
export async function pruneRecordings(dir: string, { keepDays, maxBytes }: RecordingLimits): Promise<void> {
  const now = Date.now();
  const files = await listByAge(dir);
  let bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  for (const file of files) {
    const ageMs = now - file.touchedMs;
    if (ageMs < keepDays * dayMs && bytes <= maxBytes) return;
    if (ageMs < abandonedMs && !(await isComplete(file))) continue;
    await rm(file.path, { force: true });
    bytes -= file.bytes;
  }
}

interface RecordingFile {
  readonly path: string;
  readonly bytes: number;
  readonly touchedMs: number;
}

async function listByAge(dir: string): Promise<readonly RecordingFile[]> {
  const files: RecordingFile[] = [];
  for (const name of await readdir(dir)) {
    if (!name.endsWith(recordingSuffix)) continue;
    const path = join(dir, name);
    // Another server may delete it at the same time.
    const stats = await stat(path).catch(() => undefined);
    if (stats?.isFile()) files.push({ path, bytes: stats.size, touchedMs: stats.mtimeMs });
  }
  return files.sort((one, other) => one.touchedMs - other.touchedMs);
}

async function isComplete({ path, bytes }: RecordingFile): Promise<boolean> {
  const file = await open(path).catch(() => undefined);
  if (!file) return false;
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(tailBytes), {
      position: Math.max(0, bytes - tailBytes),
    });
    return hasEnded(buffer.toString('utf8', 0, bytesRead));
  } finally {
    await file.close();
  }
}
