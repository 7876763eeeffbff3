import { createHash } from 'node:crypto';
import { chmodSync, lstatSync, mkdtempSync, readFileSync, readlinkSync, type Stats, statSync } from 'node:fs';
import { readdir, rm, stat, utimes } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { NacreError } from '../../contract/failure.ts';
import { makeFolder } from '../../support/make-folder.ts';
import type { ProcessTable } from '../processes/process-table.ts';

/** The private folder of one running server: spools, long scripts, and pipes where they are not in memory. */
export interface InstanceFolder {
  readonly path: string;
  remove(): Promise<void>;
}

const beatMs = 3_600_000;
const silentMs = 24 * beatMs;

/** Makes a folder of its own below `stateDir`, readable by nobody else, and sweeps those of dead servers. */
export async function createInstanceFolder(stateDir: string, table: ProcessTable): Promise<InstanceFolder> {
  const runs = join(stateDir, 'run');
  const startTime = (await table.startTime(process.pid).catch(() => null)) ?? '0';
  const path = makeFolders(stateDir, runs, toPrefix(process.pid, startTime));
  const quiet = keepBeating(path);
  sweep(runs, table).catch(() => {});
  return {
    path,
    remove() {
      quiet();
      return rm(path, { recursive: true, force: true });
    },
  };
}

/** Touches a folder now and then, by which servers elsewhere see that ours lives; returns what ends it. */
export function keepBeating(path: string): () => void {
  const beat = setInterval(() => utimes(path, new Date(), new Date()).catch(() => {}), beatMs).unref();
  return () => clearInterval(beat);
}

/** Removes the folders of servers that are no longer alive; returns their names. */
export async function sweep(runs: string, table: ProcessTable): Promise<readonly string[]> {
  const swept: string[] = [];
  for (const name of await readdir(runs)) {
    try {
      if (!(await isAbandoned(runs, name, table))) continue;
      await rm(join(runs, name), { recursive: true, force: true });
      swept.push(name);
    } catch {
      // Another server swept it first, or nothing can be said of it now: a later sweep will see to it.
    }
  }
  return swept;
}

/** True when the server that made a folder of this name ran here and is no longer alive. */
export async function isDeadServer(name: string, table: ProcessTable): Promise<boolean> {
  const [, where, pid, startTime] = folderName.exec(name) ?? [];
  if (where !== place()) return false;
  const now = await table.startTime(Number(pid));
  if (now === null) return true;
  // What another kind of table told cannot be compared: a process of that number may be the server.
  if (isCount(now) !== isCount(startTime ?? '')) return false;
  return toPrefix(Number(pid), now) !== `${where}-${pid}-${startTime}`;
}

function isCount(startTime: string): boolean {
  return /^\d+$/.test(startTime);
}

// A process number means something only where it was given; elsewhere silence has to tell.
async function isAbandoned(runs: string, name: string, table: ProcessTable): Promise<boolean> {
  const [, where] = folderName.exec(name) ?? [];
  if (where === undefined) return false;
  if (where !== place()) return Date.now() - (await stat(join(runs, name))).mtimeMs > silentMs;
  return isDeadServer(name, table);
}

const folderName = /^([0-9a-f]{8})-(\d+)-(\w+)-\w{6}$/;

function toPrefix(pid: number, startTime: string): string {
  return `${place()}-${pid}-${startTime.replace(/[^0-9A-Za-z]+/g, '_')}`;
}

/** Names the machine, its run since the last boot, and the container in which process numbers are those we see. */
function place(): string {
  const bootId = orEmpty(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8'));
  const namespace = orEmpty(() => readlinkSync('/proc/self/ns/pid'));
  return createHash('sha256').update([hostname(), bootId, namespace].join('\0')).digest('hex').slice(0, 8);
}

function orEmpty(read: () => string): string {
  try {
    return read();
  } catch {
    return '';
  }
}

function makeFolders(stateDir: string, runs: string, prefix: string): string {
  try {
    makeFolder(stateDir);
    checkPlace(stateDir, statSync(stateDir));
    makePrivate(runs);
    return mkdtempSync(join(runs, `${prefix}-`));
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new NacreError('resources_unavailable', `Cannot use ${stateDir} for nacre's state: ${reason}`, {
      hint: 'Make it a folder that only you can write to, or set state_dir to another one.',
      cause,
    });
  }
}

/** Throws where others could replace a folder of ours. One that others use too, such as /tmp, is taken as it is. */
export function checkPlace(path: string, { uid, mode }: Stats): void {
  if (uid !== process.getuid?.() && uid !== 0) throw new Error(`${path} belongs to another user`);
  if ((mode & 0o022) !== 0 && (mode & 0o1000) === 0) throw new Error(`others can write to ${path}`);
}

/** Makes a folder of the user alone; throws where it is somebody else's, or no folder. */
export function makePrivate(path: string): void {
  makeFolder(path);
  const found = lstatSync(path);
  if (!found.isDirectory()) throw new Error(`${path} is not a folder`);
  if (found.uid !== process.getuid?.()) throw new Error(`${path} belongs to another user`);
  if ((found.mode & 0o077) !== 0) chmodSync(path, 0o700);
}
