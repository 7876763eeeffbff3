// The folder of one command that outlives its connection: `spec` before it runs, `log` while it runs, `end` before its end
// is reported, `settled` once a server has recorded that end, `link` once a later server has reattached to it.
import { lstatSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { open, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { JobSpec, JobState, Keeping } from '../../contract/job.ts';
import { readRegularFile } from '../../support/regular-file.ts';

/** The contents of `spec`: a command without its variables, which may be secret. */
export interface KeptSpec extends Pick<JobSpec, 'id' | 'command' | 'cwd' | 'stdin' | 'terminal'> {
  readonly keeping: Keeping;
  /** The link that started it, or the last one that reattached to it. */
  readonly link: string;
  readonly preparedAt: string;
  /** How long its result stays readable after its end. */
  readonly tombstoneMs: number;
}

/** The contents of the folder of a command: `end` is null if none was recorded. */
export interface KeptRecord {
  readonly spec: KeptSpec;
  readonly end: JobState | null;
  /** True for an ended command, even if the disk was too full to write its `end`. */
  readonly hasEnded: boolean;
  readonly isSettled: boolean;
}

/** The name of the file with the `KeptSpec` of a command. */
export const specName = 'spec';

/** Creates the folder of a command that is about to be prepared. */
export function writeSpec(folder: string, spec: KeptSpec): void {
  mkdirSync(folder, { mode: 0o700 });
  writeFileSync(join(folder, specName), JSON.stringify(spec), { mode: 0o600, flag: 'wx' });
}

// Creating an empty file needs no space, so this exists even if the disk is full.
const endDraft = 'end.new';

/** Writes an end so that it survives a crash of the machine. */
export async function writeEnd(folder: string, state: JobState): Promise<void> {
  const draft = join(folder, endDraft);
  const file = await open(draft, 'w', 0o600);
  try {
    await file.writeFile(JSON.stringify(state));
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(draft, join(folder, 'end'));
}

/** Records the link that has reattached to a command. */
export function writeLink(folder: string, link: string): void {
  const draft = join(folder, 'link.new');
  writeFileSync(draft, link, { mode: 0o600 });
  renameSync(draft, join(folder, 'link'));
}

/** Notes that the end was recorded. */
export function markSettled(folder: string): void {
  writeFileSync(join(folder, 'settled'), '', { mode: 0o600 });
}

/** Reads the folder of a command; undefined if `spec` is missing or damaged, so that nothing is known. */
export function readKept(folder: string): KeptRecord | undefined {
  try {
    const spec = JSON.parse(readRegularFile(join(folder, specName))) as KeptSpec;
    const link = readOr(join(folder, 'link'), spec.link);
    const end = readEnd(folder);
    const hasEnded =
      end !== null || lstatSync(join(folder, endDraft), { throwIfNoEntry: false }) !== undefined;
    return { spec: { ...spec, link }, end, hasEnded, isSettled: exists(join(folder, 'settled')) };
  } catch {
    return undefined;
  }
}

function readEnd(folder: string): JobState | null {
  try {
    return JSON.parse(readRegularFile(join(folder, 'end'))) as JobState;
  } catch {
    return null;
  }
}

function exists(path: string): boolean {
  return readOr(path, undefined) !== undefined;
}

function readOr<Other>(path: string, other: Other): string | Other {
  try {
    return readRegularFile(path);
  } catch {
    return other;
  }
}

/** The time at which the last byte was written. */
export async function lastWritten(folder: string): Promise<number> {
  const found = await stat(join(folder, 'log')).catch(() => stat(join(folder, specName)));
  return found.mtimeMs;
}

/** Removes the folder of a command. */
export function removeKept(folder: string): Promise<void> {
  return rm(folder, { recursive: true, force: true });
}
