import { closeSync, fstatSync, readlinkSync } from 'node:fs';
import type { FileRules, GuardOptions } from './guard-rules.ts';
import type { Libc } from './libc.ts';
import { listReadable } from './list-readable.ts';

// LANDLOCK_ACCESS_FS_*.
const execute = 1n;
const writeFile = 1n << 1n;
const readFile = 1n << 2n;
const remove = (1n << 4n) | (1n << 5n);
// Folders, files, sockets, FIFOs and symlinks; devices cannot be created.
const make = (1n << 7n) | (1n << 8n) | (1n << 9n) | (1n << 10n) | (1n << 12n);
const makeDevice = (1n << 6n) | (1n << 11n);
const refer = 1n << 13n;
const truncate = 1n << 14n;
const ioctlDevice = 1n << 15n;
// Only these may be granted for anything but a folder.
const ofFiles = execute | writeFile | readFile | truncate | ioctlDevice;
// LANDLOCK_SCOPE_*.
const abstractSockets = 1n;
const signals = 2n;

/** The Landlock version since which each right exists; older kernels reject a ruleset that names it. */
const since = { truncate: 3, ioctlDevice: 5, scopes: 6 };
// The devices that a private /dev of bubblewrap has. Terminals in /dev/pts are left out: those of the user are there too.
const devices = ['null', 'zero', 'full', 'random', 'urandom', 'tty', 'ptmx'].map((name) => `/dev/${name}`);

/** Creates the ruleset of a guard; returns its descriptor. */
export function createRuleset(libc: Libc, version: number, options: GuardOptions): number {
  const { execute: programs, files, fds } = options;
  const handled = (programs ? execute | refer : 0n) | (files ? toHandled(version) : 0n);
  const ruleset = libc.createRuleset(toAttributes(handled, version, files));
  const grant = (path: string, access: bigint) => addPath(libc, ruleset, path, access & handled);
  for (const path of programs ?? []) grant(path, execute);
  // A ruleset that does not grant `LANDLOCK_ACCESS_FS_REFER` denies renames and links between folders.
  if (!files) grant('/', refer);
  else {
    grantFiles(files, grant);
    for (const fd of fds) addOpen(libc, ruleset, fd, (ofFiles ^ execute) & handled);
  }
  return ruleset;
}

function toHandled(version: number): bigint {
  const all = writeFile | readFile | remove | make | makeDevice | refer;
  return (
    all | (version >= since.truncate ? truncate : 0n) | (version >= since.ioctlDevice ? ioctlDevice : 0n)
  );
}

function grantFiles(files: FileRules, grant: (path: string, access: bigint) => void): void {
  // As root, devices such as /dev/sda would show every file.
  for (const path of listReadable([...files.hidden, '/dev'])) grant(path, readFile);
  for (const path of devices) grant(path, readFile | writeFile | truncate | ioctlDevice);
  for (const path of files.writable) grant(path, readFile | writeFile | remove | make | refer | truncate);
  for (const path of files.openable) grant(path, readFile | writeFile);
}

// A path that no longer exists, or whose parent was replaced by a symlink meanwhile, is left out.
function addPath(libc: Libc, ruleset: number, path: string, access: bigint): void {
  const fd = libc.openPath(path);
  if (fd === null) return;
  const isThere = readlinkSync(`/proc/self/fd/${fd}`) === path;
  const allowed = fstatSync(fd).isDirectory() ? access : access & ofFiles;
  if (isThere && allowed !== 0n) libc.addRule(ruleset, toRule(allowed, fd));
  closeSync(fd);
}

// /dev/stdout and /dev/fd/6 open the file of a descriptor by its path again.
function addOpen(libc: Libc, ruleset: number, fd: number, access: bigint): void {
  const file = fstatSync(fd);
  const isNamed = file.isFIFO() || file.isFile() || file.isCharacterDevice();
  try {
    if (isNamed) libc.addRule(ruleset, toRule(access, fd));
  } catch {
    // EBADFD: Landlock does not restrict an anonymous pipe.
  }
}

function toAttributes(handled: bigint, version: number, files: FileRules | undefined): Buffer {
  const withScopes = files !== undefined && version >= since.scopes;
  const bytes = Buffer.alloc(withScopes ? 24 : 8);
  bytes.writeBigUInt64LE(handled);
  // The second field is about TCP ports, which seccomp covers.
  if (withScopes) bytes.writeBigUInt64LE(abstractSockets | (files.signals ? 0n : signals), 16);
  return bytes;
}

function toRule(access: bigint, fd: number): Buffer {
  const bytes = Buffer.alloc(12);
  bytes.writeBigUInt64LE(access);
  bytes.writeInt32LE(fd, 8);
  return bytes;
}
