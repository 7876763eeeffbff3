import { open, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { chooseOldFiles } from '../support/old-files.ts';
import { isAlive } from '../support/process-identity.ts';
import { hasEnded, recordingSuffix, tailBytes, writerOf } from './asciicast.ts';

/** Limits on the age and the total size of recordings. */
export interface RecordingLimits {
  readonly keepDays: number;
  readonly maxBytes: number;
}

/** Interval of `utimes` on a recording that is being written, so that it is not the oldest one. */
export const touchEveryMs = 3_600_000;
const dayMs = 86_400_000;
const headBytes = 1_024;

/**
 * Deletes a day's worth of recordings older than `keepDays`, and the oldest beyond `maxBytes`; never one that is being written,
 * as far as the identity of its writer shows.
 */
export async function pruneRecordings(dir: string, { keepDays, maxBytes }: RecordingLimits): Promise<void> {
  const files = await listByAge(dir);
  const old = new Set(chooseOldFiles(files, keepDays * dayMs, Date.now()));
  let bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  for (const file of files) {
    const isOld = old.has(file);
    if (!isOld && bytes <= maxBytes) return;
    if (await isBeingWritten(file, isOld)) continue;
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

// A writer in another pid namespace, or on another machine, may be alive; its recording stays until it is old.
async function isBeingWritten({ path, bytes }: RecordingFile, isOld: boolean): Promise<boolean> {
  const file = await open(path).catch(() => undefined);
  if (!file) return true;
  const read = async (position: number, length: number) => {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(length), { position });
    return buffer.toString('utf8', 0, bytesRead);
  };
  try {
    if (hasEnded(await read(Math.max(0, bytes - tailBytes), tailBytes))) return false;
    const writer = writerOf((await read(0, headBytes)).split('\n', 1)[0] ?? '');
    return (writer && isAlive(writer, path)) ?? !isOld;
  } finally {
    await file.close();
  }
}
