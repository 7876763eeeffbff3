// Records on this machine's disk of commands and persistent shells that outlive their server on other machines, so that
// a later server knows which machines to contact. Each server writes to its own folder, STATE_DIR/machines/SERVER. A
// later server claims a record with rename() into its own folder, which succeeds for only one server. Records also
// contain the facts that another machine must not decide: the command, its owner, and the rules for its input.
import { linkSync, mkdirSync, readdirSync, renameSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JobSpec, Keeping } from '../contract/job.ts';
import { randomHex } from '../support/ids.ts';
import { isAlive, ownIdentity } from '../support/process-identity.ts';
import { readRegularFile } from '../support/regular-file.ts';

/** The record of a command, or of a persistent shell if `session` is present. */
export interface FarRecord
  extends Pick<JobSpec, 'id' | 'command' | 'cwd' | 'stdin' | 'terminal' | 'session'> {
  readonly machine: string;
  readonly keeping: Keeping;
  readonly notedAt: string;
  /** True once the end of the command is in the audit log. */
  readonly isSettled?: boolean | undefined;
}

/** The records of this server, and those that dead servers have left. */
export interface FarRecords {
  add(record: FarRecord): void;
  /** Sets `isSettled`: the end of the command is in the audit log. */
  settle(id: string): void;
  remove(id: string): void;
  /** The records of dead servers. */
  abandoned(): readonly FarRecord[];
  /** Moves the records of dead servers for one client to this server; returns those that no other server moved first. */
  claim(identity: string): readonly FarRecord[];
  /** A random name of this installation: another computer with the same user and folder must not get its commands from a machine. */
  installation(): string;
}

// A record is useless once the other machine has forgotten the command, which happens much earlier than this.
const keepMs = 7 * 86_400_000;

/** True if a dead server has left records. */
export function hasAbandonedRecords(stateDir: string): boolean {
  return abandonedFolders(rootIn(stateDir)).some((folder) => listFiles(folder).length > 0);
}

/** Opens the records below `stateDir`; nothing is written before the first `add`. */
export function openFarRecords(stateDir: string): FarRecords {
  const root = rootIn(stateDir);
  const ownFolder = join(root, toFolderName());
  const ownRecords = new Map<string, FarRecord>();
  const write = (record: FarRecord) => {
    mkdirSync(ownFolder, { recursive: true, mode: 0o700 });
    const path = join(ownFolder, record.id);
    writeFileSync(`${path}.new`, JSON.stringify(record), { mode: 0o600 });
    renameSync(`${path}.new`, path);
    ownRecords.set(record.id, record);
  };
  return {
    add: write,
    settle(id) {
      const record = ownRecords.get(id);
      if (record) write({ ...record, isSettled: true });
    },
    remove(id) {
      if (!ownRecords.delete(id)) return;
      rmSync(join(ownFolder, id), { force: true });
      if (ownRecords.size === 0) removeIfEmpty(ownFolder);
    },
    abandoned: () => abandonedFolders(root).flatMap((folder) => readAll(folder).map(({ record }) => record)),
    claim(identity) {
      const found = abandonedFolders(root).flatMap(readAll);
      const claimed = found.filter(({ record, path }) => {
        if (record.keeping.identity !== identity) return false;
        mkdirSync(ownFolder, { recursive: true, mode: 0o700 });
        return tryTo(() => renameSync(path, join(ownFolder, record.id)));
      });
      for (const { record } of claimed) ownRecords.set(record.id, record);
      for (const folder of abandonedFolders(root)) removeIfEmpty(folder);
      return claimed.map(({ record }) => record);
    },
    installation: () => readInstallation(root),
  };
}

function rootIn(stateDir: string): string {
  return join(stateDir, 'machines');
}

// The folder's name is the identity of the server's process.
function toFolderName(): string {
  const { boot, namespace, pid, startTime } = ownIdentity();
  return [boot, namespace.replace(/\D/g, ''), pid, startTime].join('_');
}

function abandonedFolders(root: string): readonly string[] {
  return listFiles(root).flatMap((name) => {
    const [boot, namespace, pid, startTime] = name.split('_');
    if (boot === undefined || namespace === undefined || startTime === undefined) return [];
    const folder = join(root, name);
    const identity = { boot, namespace: `pid:[${namespace}]`, pid: Number(pid), startTime };
    return isAlive(identity, folder) === false ? [folder] : [];
  });
}

interface FoundRecord {
  readonly path: string;
  readonly record: FarRecord;
}

function readAll(folder: string): readonly FoundRecord[] {
  return listFiles(folder).flatMap((name) => {
    const path = join(folder, name);
    const record = name.endsWith('.new') ? undefined : readRecord(path);
    if (record && Date.now() - Date.parse(record.notedAt) < keepMs) return [{ path, record }];
    tryTo(() => rmSync(path, { force: true }));
    return [];
  });
}

function readRecord(path: string): FarRecord | undefined {
  try {
    const record = JSON.parse(readRegularFile(path)) as FarRecord;
    return typeof record.keeping.identity === 'string' ? record : undefined;
  } catch {
    return undefined;
  }
}

function readInstallation(root: string): string {
  const path = join(root, 'installation');
  const known = tryReading(path);
  if (known !== undefined) return known;
  mkdirSync(root, { recursive: true, mode: 0o700 });
  const draft = `${path}.${randomHex(4)}`;
  writeFileSync(draft, randomHex(16), { mode: 0o600 });
  // Fails if another server was faster; then its name is used.
  tryTo(() => linkSync(draft, path));
  rmSync(draft);
  return readRegularFile(path);
}

function tryReading(path: string): string | undefined {
  try {
    return readRegularFile(path);
  } catch {
    return undefined;
  }
}

function listFiles(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function removeIfEmpty(folder: string): void {
  tryTo(() => rmdirSync(folder));
}

function tryTo(step: () => void): boolean {
  try {
    step();
    return true;
  } catch {
    return false;
  }
}
