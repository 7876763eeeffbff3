import { writeSync } from 'node:fs';
import { constants } from 'node:os';
import { type Libc, loadLibc } from './libc.ts';
import { memoryFiles, toSeccompFilter } from './seccomp-filter.ts';

/** What a guard is told, as JSON in its first argument; the program to become follows. */
export interface GuardOrder {
  /** Files that may be executed, and folders whose files may. */
  readonly allow: readonly string[];
  /** The descriptors that the program gets. */
  readonly fds: readonly number[];
  /** Variables that the guard was started without, because they would have changed the guard itself. */
  readonly env: Readonly<Record<string, string>>;
}

const execute = 1n;
const refer = 1n << 13n;
const oldestVersion = 2;
// sys_module, sys_rawio, sys_admin, bpf, checkpoint_restore: with them root could execute memory, or undo all of this.
const dangerousCapabilities = [16, 17, 21, 39, 40];
// Node ignores these, and what is ignored stays so in the next program.
const ignoredByNode = [constants.signals.SIGPIPE, constants.signals.SIGXFSZ];
const couldNotGuard = 125;

/** How the guard reaches the kernel and whoever started it. */
export interface GuardMeans {
  load(): Promise<Libc>;
  say(text: string): void;
}

/**
 * The program in front of a keeper's shell. It becomes that shell, so that no process is added.
 * 1. every program but the allowed ones is taken from it and from all that it will start,
 * 2. memory that poses as a file is refused, and rights that could undo this are given up,
 * 3. what Node changed in the process is put back, and the shell takes its place.
 */
export async function runGuard(
  [order, ...program]: readonly string[],
  { load, say }: GuardMeans = { load: loadLibc, say: (text) => writeSync(2, text) },
): Promise<number> {
  try {
    const { allow, fds, env } = JSON.parse(order ?? '') as GuardOrder;
    const libc = await load().catch(refuseWithoutKoffi);
    restrict(libc, allow);
    for (const [name, value] of Object.entries(env)) libc.setVariable(name, value);
    for (const signal of ignoredByNode) libc.resetSignal(signal);
    for (const fd of fds) libc.keepOpen(fd);
    libc.become(program);
  } catch (error) {
    say(`${toReason(error)}\n`);
  }
  return couldNotGuard;
}

function restrict(libc: Libc, allow: readonly string[]): void {
  checkVersion(libc);
  // Renames between folders are refused by every ruleset that does not grant them.
  const ruleset = libc.createRuleset(toAttributes(execute | refer));
  addRule(libc, ruleset, '/', refer);
  for (const path of allow) addRule(libc, ruleset, path, execute);
  for (const capability of dangerousCapabilities) libc.dropCapability(capability);
  libc.forbidNewPrivileges();
  libc.restrictSelf(ruleset);
  libc.installFilter(toSeccompFilter(memoryFiles));
}

function checkVersion(libc: Libc): void {
  if (!['x64', 'arm64'].includes(process.arch)) throw new Error(`it is not built for ${process.arch}`);
  let version = 0;
  try {
    version = libc.landlockVersion();
  } catch (error) {
    throw new Error(
      `the kernel does not offer Landlock (${toReason(error)}); it needs Linux 5.19 or newer with landlock among its security modules`,
    );
  }
  if (version < oldestVersion)
    throw new Error(`Landlock is too old here (version ${version}); it needs Linux 5.19 or newer`);
}

// A program that the sandbox hides cannot be run in it anyway.
function addRule(libc: Libc, ruleset: number, path: string, access: bigint): void {
  const fd = libc.openPath(path);
  if (fd !== null) libc.addRule(ruleset, toRule(access, fd));
}

function toAttributes(handled: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(handled);
  return bytes;
}

function toRule(access: bigint, fd: number): Buffer {
  const bytes = Buffer.alloc(12);
  bytes.writeBigUInt64LE(access);
  bytes.writeInt32LE(fd, 8);
  return bytes;
}

function refuseWithoutKoffi(error: unknown): never {
  throw new Error(`the optional package koffi could not be loaded (${toReason(error)})`);
}

function toReason(error: unknown): string {
  return String(error instanceof Error ? error.message : error).replace(/\n.*$/s, '');
}
