import { closeSync, fstatSync, readlinkSync } from 'node:fs';
import type { FileRules, GuardOptions, GuardRules } from './guard-rules.ts';
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
// LANDLOCK_SCOPE_*.
const abstractSockets = 1n;
const signals = 2n;

/** The rights that may be granted for a path that is not a folder. */
export const rightsOfFiles = execute | writeFile | readFile | truncate | ioctlDevice;
/** The version of Landlock since which a right exists; older kernels reject a ruleset that names it. */
export const rightsSince: readonly (readonly [version: number, right: bigint])[] = [
  [3, truncate],
  [5, ioctlDevice],
];
/** The version of Landlock since which a ruleset has scopes. */
export const scopesSince = 6;

// The devices that a private /dev of bubblewrap has. Terminals in /dev/pts are left out: those of the user are there too.
const devices = ['null', 'zero', 'full', 'random', 'urandom', 'tty', 'ptmx'].map((name) => `/dev/${name}`);

/** A ruleset as data, for every version of Landlock. */
export interface Ruleset {
  /** The rights that are denied unless they are granted. */
  readonly handled: bigint;
  readonly scopes: bigint;
  readonly grants: readonly { readonly path: string; readonly access: bigint }[];
  /** The right to read everything in `from` that contains no hidden path (`listReadable`). */
  readonly readable?:
    | { readonly from: readonly string[]; readonly hidden: readonly string[]; readonly access: bigint }
    | undefined;
  /** The rights on the files of inherited descriptors. */
  readonly descriptors: bigint;
}

/** Translates rules into a Landlock ruleset. */
export function toRuleset({ execute: programs, files }: GuardRules): Ruleset {
  const handled = (programs ? execute | refer : 0n) | (files ? handledForFiles : 0n);
  const toExecute = (programs ?? []).map((path) => ({ path, access: execute }));
  // A ruleset that does not grant `LANDLOCK_ACCESS_FS_REFER` denies renames and links between folders.
  if (!files)
    return { handled, scopes: 0n, grants: [...toExecute, { path: '/', access: refer }], descriptors: 0n };
  return {
    handled,
    scopes: abstractSockets | (files.signals ? 0n : signals),
    grants: [...toExecute, ...grantsOf(files)],
    // As root, devices such as /dev/sda would show every file.
    readable: { from: ['/', ...files.shown], hidden: [...files.hidden, '/dev'], access: readFile },
    descriptors: rightsOfFiles ^ execute,
  };
}

const handledForFiles = writeFile | readFile | remove | make | makeDevice | refer | truncate | ioctlDevice;

function grantsOf({ writable, openable }: FileRules): Ruleset['grants'] {
  const grant = (access: bigint) => (path: string) => ({ path, access });
  return [
    ...devices.map(grant(readFile | writeFile | truncate | ioctlDevice)),
    ...writable.map(grant(readFile | writeFile | remove | make | refer | truncate)),
    ...openable.map(grant(readFile | writeFile)),
  ];
}

/** Creates the ruleset of a guard; returns its descriptor. */
export function createRuleset(libc: Libc, version: number, options: GuardOptions): number {
  const plan = toRuleset(options);
  const unknown = rightsSince.filter(([since]) => version < since).map(([, right]) => right);
  const handled = unknown.reduce((rights, right) => rights & ~right, plan.handled);
  const ruleset = libc.createRuleset(toAttributes(handled, version < scopesSince ? 0n : plan.scopes));
  const grant = (path: string, access: bigint) => addPath(libc, ruleset, path, access & handled);
  for (const { path, access } of plan.grants) grant(path, access);
  const { readable, descriptors } = plan;
  for (const from of readable?.from ?? [])
    for (const path of listReadable(readable?.hidden ?? [], from)) grant(path, readable?.access ?? 0n);
  if (descriptors) for (const fd of options.fds) addOpen(libc, ruleset, fd, descriptors & handled);
  return ruleset;
}

// A path that no longer exists, or whose parent was replaced by a symlink meanwhile, is left out.
function addPath(libc: Libc, ruleset: number, path: string, access: bigint): void {
  const fd = libc.openPath(path);
  if (fd === null) return;
  const isThere = readlinkSync(`/proc/self/fd/${fd}`) === path;
  const allowed = fstatSync(fd).isDirectory() ? access : access & rightsOfFiles;
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

function toAttributes(handled: bigint, scopes: bigint): Buffer {
  const bytes = Buffer.alloc(scopes ? 24 : 8);
  bytes.writeBigUInt64LE(handled);
  // The second field is about TCP ports, which seccomp covers.
  if (scopes) bytes.writeBigUInt64LE(scopes, 16);
  return bytes;
}

function toRule(access: bigint, fd: number): Buffer {
  const bytes = Buffer.alloc(12);
  bytes.writeBigUInt64LE(access);
  bytes.writeInt32LE(fd, 8);
  return bytes;
}
