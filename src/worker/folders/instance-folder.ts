import { createHash } from 'node:crypto';
import { chmodSync, lstatSync, mkdtempSync, type Stats, statSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { NacreError } from '../../contract/failure.ts';
import { makeFolder } from '../../support/make-folder.ts';
import { bootId, pidNamespace } from '../../support/process-identity.ts';
import type { ProcessTable } from '../processes/process-table.ts';
import { isLeftBehind, openLivenessSocket } from './liveness-socket.ts';
import { removeCommandFolder } from './remove-command-folder.ts';

/** The private folder of one running server, below `STATE_DIR/run`: spools, long scripts, and FIFOs if not in memory. */
export interface InstanceFolder {
  readonly path: string;
  remove(): Promise<void>;
}

/** Creates a folder below `stateDir` that only the user can read, and removes the folders of dead servers. */
export async function createInstanceFolder(stateDir: string, table: ProcessTable): Promise<InstanceFolder> {
  const runs = join(stateDir, 'run');
  const startTime = (await table.startTime(process.pid).catch(() => null)) ?? '0';
  const path = createFolders(stateDir, runs, toPrefix(process.pid, startTime));
  const stopKeeping = openLivenessSocket(path);
  sweepFolders(runs, table).catch(() => {});
  return {
    path,
    remove() {
      stopKeeping();
      return removeCommandFolder(path);
    },
  };
}

/** Removes the folders of dead servers; returns their names. */
export async function sweepFolders(runs: string, table: ProcessTable): Promise<readonly string[]> {
  const swept: string[] = [];
  for (const name of await readdir(runs)) {
    try {
      if (!(await isAbandoned(runs, name, table))) continue;
      await removeCommandFolder(join(runs, name));
      swept.push(name);
    } catch {
      // Another server removed it first, or its state cannot be determined now; a later sweep tries again.
    }
  }
  return swept;
}

/** True if the server that created a folder of this name ran on this machine (`machineId`) and is dead. */
export async function isDeadServer(name: string, table: ProcessTable): Promise<boolean> {
  const [, machine, pid, startTime] = folderName.exec(name) ?? [];
  if (machine !== machineId()) return false;
  const now = await table.startTime(Number(pid));
  if (now === null) return true;
  // Start times from /proc (ticks) and `ps` (dates) cannot be compared: the process may be the server.
  if (isTicks(now) !== isTicks(startTime ?? '')) return false;
  return toPrefix(Number(pid), now) !== `${machine}-${pid}-${startTime}`;
}

function isTicks(startTime: string): boolean {
  return /^\d+$/.test(startTime);
}

// A pid is only meaningful in its own pid namespace; for other namespaces `isLeftBehind` decides.
async function isAbandoned(runs: string, name: string, table: ProcessTable): Promise<boolean> {
  const [, machine] = folderName.exec(name) ?? [];
  if (machine === undefined) return false;
  return machine === machineId() ? isDeadServer(name, table) : isLeftBehind(join(runs, name));
}

const folderName = /^([0-9a-f]{8})-(\d+)-(\w+)-\w{6}$/;

function toPrefix(pid: number, startTime: string): string {
  return `${machineId()}-${pid}-${startTime.replace(/[^0-9A-Za-z]+/g, '_')}`;
}

/** Identifies the machine, its current boot, and the pid namespace in which our pids are valid. */
function machineId(): string {
  const parts = [hostname(), bootId(), pidNamespace()];
  return createHash('sha256').update(parts.join('\0')).digest('hex').slice(0, 8);
}

function createFolders(stateDir: string, runs: string, prefix: string): string {
  try {
    makeFolder(stateDir);
    checkOwner(stateDir, statSync(stateDir));
    createPrivateFolder(runs);
    return mkdtempSync(join(runs, `${prefix}-`));
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new NacreError('resources_unavailable', `Cannot use ${stateDir} for nacre's state: ${reason}`, {
      hint: 'Make it a folder that only you can write to, or set state_dir to another one.',
      cause,
    });
  }
}

/** Throws if another user could replace files in a folder; a sticky one, such as /tmp, is accepted. */
export function checkOwner(path: string, { uid, mode }: Stats): void {
  if (uid !== process.getuid?.() && uid !== 0) throw new Error(`${path} belongs to another user`);
  if ((mode & 0o022) !== 0 && (mode & 0o1000) === 0) throw new Error(`others can write to ${path}`);
}

/** Creates a folder that only the user can enter; throws if the path belongs to another user or is not a folder. */
export function createPrivateFolder(path: string): void {
  makeFolder(path);
  const found = lstatSync(path);
  if (!found.isDirectory()) throw new Error(`${path} is not a folder`);
  if (found.uid !== process.getuid?.()) throw new Error(`${path} belongs to another user`);
  if ((found.mode & 0o077) !== 0) chmodSync(path, 0o700);
}
