import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';

const dayMs = 86_400_000;

/** A file with its mtime. */
export interface DatedFile {
  readonly touchedMs: number;
}

/**
 * The files that are older than `keepMs`, at most one day's worth of them. The clock is trusted only as far as the
 * newest file of an earlier half-day shows that time has passed, so a clock that jumps ahead makes no file old by
 * itself.
 */
export function chooseOldFiles<File extends DatedFile>(
  files: readonly File[],
  keepMs: number,
  nowMs: number,
): readonly File[] {
  const earlier = files.map(({ touchedMs }) => touchedMs).filter((ms) => ms < nowMs - dayMs / 2);
  const oldest = Math.min(...earlier);
  const before = Math.min(Math.max(...earlier) - keepMs, oldest + dayMs);
  return files.filter(({ touchedMs }) => touchedMs < before);
}

/** Removes the files of a folder that `chooseOldFiles` chooses. */
export function removeOldFiles(dir: string, keepMs: number): void {
  const files = readdirSync(dir).flatMap((name) => {
    const path = join(dir, name);
    const found = statSync(path, { throwIfNoEntry: false });
    return found?.isFile() ? [{ path, touchedMs: found.mtimeMs }] : [];
  });
  for (const { path } of chooseOldFiles(files, keepMs, Date.now())) rmSync(path, { force: true });
}
