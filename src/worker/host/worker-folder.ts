// The folder of all workers of one user below STATE_DIR/worker/PROTOCOL: each process has a folder with its socket, its
// identity and its jobs, and a link named after the place points to the one that servers use.
import { createHash } from 'node:crypto';
import {
  closeSync,
  constants,
  openSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { connect, type Server, type Socket } from 'node:net';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { KeptState } from '../../contract/backend.ts';
import { toProject } from '../../contract/session-key.ts';
import { protocol } from '../../contract/wire.ts';
import { randomHex } from '../../support/ids.ts';
import { makeFolder } from '../../support/make-folder.ts';
import { bootId, isAlive, ownIdentity, type ProcessIdentity } from '../../support/process-identity.ts';
import { readRegularFile } from '../../support/regular-file.ts';
import { createPrivateFolder } from '../folders/instance-folder.ts';
import { type KeptRecord, readKept, removeKept } from './kept-job.ts';

const socketName = 'socket';
const identityName = 'identity';

/** The folder of the workers of this protocol. */
export function workersFolder(stateDir: string): string {
  return join(stateDir, 'worker', `protocol-${protocol}`);
}

/** A process in its folder. */
export interface FoundWorker extends ProcessIdentity {
  readonly name: string;
  readonly folder: string;
  readonly build: string;
}

/** Creates the folder of this process. */
export function createWorkerFolder(root: string, build: string): FoundWorker {
  makeFolder(root);
  createPrivateFolder(root);
  const name = `worker-${randomHex(8)}`;
  const folder = join(root, name);
  createPrivateFolder(folder);
  makeFolder(join(folder, 'jobs'));
  const found = { ...ownIdentity(), name, build };
  writeFileSync(join(folder, identityName), JSON.stringify(found), { mode: 0o600, flag: 'wx' });
  return { ...found, folder };
}

/** True if the folder of this process was removed, renamed or replaced; false if that is not known. */
export function hasLostFolder({ folder }: FoundWorker): boolean {
  try {
    return statSync(join(folder, identityName), { throwIfNoEntry: false }) === undefined;
  } catch {
    return false;
  }
}

/** Listens on the socket of a folder; its path may be longer than the 107 bytes that an address can have. */
export function listenIn(folder: string, server: Server): void {
  withDescriptor(folder, (path) => void server.listen(join(path, socketName)));
}

/** Connects to the socket of a folder. */
export function connectTo(folder: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const fd = openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
    const socket = connect(`/proc/self/fd/${fd}/${socketName}`);
    const done = () => {
      socket.off('error', failed);
      closeSync(fd);
      resolve(socket);
    };
    const failed = (error: Error) => {
      closeSync(fd);
      reject(error);
    };
    socket.once('connect', done).once('error', failed);
  });
}

function withDescriptor(folder: string, step: (path: string) => void): void {
  const fd = openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  try {
    step(`/proc/self/fd/${fd}`);
  } finally {
    closeSync(fd);
  }
}

/** The current worker of this place, which servers use; undefined if there is none. */
export function findCurrent(root: string): string | undefined {
  try {
    return readlinkSync(currentLink(root));
  } catch {
    return undefined;
  }
}

/** Makes a worker the current one of this place; false if another one is alive. */
export function becomeCurrent(root: string, { name }: FoundWorker): boolean {
  for (let turn = 0; turn < 10; turn += 1) {
    try {
      symlinkSync(name, currentLink(root));
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    const other = findCurrent(root);
    if (other !== undefined && isWorkerAlive(root, other) !== false) return false;
    if (other !== undefined) removeCurrent(root, other);
  }
  return false;
}

/** Removes the link to a worker, unless it points to another one by now. */
export function removeCurrent(root: string, name: string): void {
  const link = currentLink(root);
  const aside = `${link}.${randomHex(4)}`;
  try {
    renameSync(link, aside);
    if (readlinkSync(aside) === name) unlinkSync(aside);
    else renameSync(aside, link);
  } catch {
    // Another process has removed it.
  }
}

/** Whether the process of a worker is alive; undefined if that cannot be known from here. */
export function isWorkerAlive(root: string, name: string): boolean | undefined {
  const found = readWorker(root, name);
  return found ? isAlive(found, found.folder) : false;
}

/** Reads the identity of a worker. */
export function readWorker(root: string, name: string): FoundWorker | undefined {
  const folder = join(root, name);
  try {
    const text = readRegularFile(join(folder, identityName));
    return { ...(JSON.parse(text) as Omit<FoundWorker, 'folder'>), folder };
  } catch {
    return undefined;
  }
}

/** The names of all workers, living or dead. */
export function listWorkers(root: string): readonly string[] {
  try {
    return readdirSync(root).filter((name) => name.startsWith('worker-'));
  } catch {
    return [];
  }
}

/** True if the worker of this place runs, or if a worker, living or dead, has commands that can be taken up. */
export function mayHaveKeptJobs(stateDir: string): boolean {
  const root = workersFolder(stateDir);
  const current = findCurrent(root);
  if (current !== undefined && isWorkerAlive(root, current) !== false) return true;
  return listWorkers(root).some((name) => listJobs(join(root, name)).length > 0);
}

/** True if a command of a client in this project folder still runs, or may have been running when its worker died. */
export function hasRunningIn(stateDir: string, project: string): boolean {
  const root = workersFolder(stateDir);
  return listWorkers(root).some((name) =>
    listJobs(join(root, name)).some((id) => {
      const kept = readKept(join(root, name, 'jobs', id));
      return kept?.hasEnded === false && toProject(kept.spec.keeping.identity) === project;
    }),
  );
}

/** The commands that workers of this protocol, living or dead, keep on disk. */
export function listKept(stateDir: string): readonly KeptState[] {
  const root = workersFolder(stateDir);
  return listWorkers(root).flatMap((name) => {
    const isDead = isWorkerAlive(root, name) === false;
    return listJobs(join(root, name)).flatMap((id): readonly KeptState[] => {
      const kept = readKept(join(root, name, 'jobs', id));
      if (!kept) return [];
      if (isDead && !kept.end) return [{ id, state: 'lost' }];
      return [{ id, state: kept.hasEnded ? 'ended' : 'running' }];
    });
  });
}

function listJobs(folder: string): readonly string[] {
  try {
    return readdirSync(join(folder, 'jobs'));
  } catch {
    return [];
  }
}

/** Moves the jobs of dead workers to this one, and removes the folders of those workers. */
export function inheritJobs(
  root: string,
  { name: own, folder }: FoundWorker,
): readonly (KeptRecord & { readonly folder: string })[] {
  for (const name of listWorkers(root)) {
    if (name === own || isWorkerAlive(root, name) !== false) continue;
    const dead = join(root, name);
    for (const id of listJobs(dead)) {
      try {
        renameSync(join(dead, 'jobs', id), join(folder, 'jobs', id));
      } catch {
        // Another worker has already moved this job.
      }
    }
    rmSync(dead, { recursive: true, force: true });
  }
  return listJobs(folder).flatMap((id) => {
    const at = join(folder, 'jobs', id);
    const record = readKept(at);
    if (record && !isExpired(record)) return [{ ...record, folder: at }];
    void removeKept(at);
    return [];
  });
}

function isExpired({ spec, end }: KeptRecord): boolean {
  const endedAt = end?.endRecord?.endedAt;
  return endedAt !== undefined && Date.now() - Date.parse(endedAt) > spec.tombstoneMs;
}

// A worker runs commands where it lives, so a state folder that containers share has one link per place.
function currentLink(root: string): string {
  const spaces = ['pid', 'mnt', 'net'].map((space) => readNamespace(space));
  const parts = [hostname(), bootId(), ...spaces, String(process.getuid?.() ?? '')];
  return join(root, `current-${createHash('sha256').update(parts.join('\0')).digest('hex').slice(0, 8)}`);
}

function readNamespace(space: string): string {
  try {
    return readlinkSync(`/proc/self/ns/${space}`);
  } catch {
    return '';
  }
}
