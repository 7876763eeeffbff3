import { writeSync } from 'node:fs';
import { constants } from 'node:os';
import { type Libc, loadLibc } from './libc.ts';
import { memoryFiles, toSeccompFilter } from './seccomp-filter.ts';

/** The first argument of dist/exec-guard.js, as JSON; the program to execute follows. */
export interface GuardOptions {
  readonly allow: readonly string[];
  readonly fds: readonly number[];
  /** NODE_* variables, withheld from the guard itself because they affect Node, and restored for the program. */
  readonly env: Readonly<Record<string, string>>;
}

const execute = 1n;
const refer = 1n << 13n;
const minVersion = 2;
// CAP_SYS_MODULE, SYS_RAWIO, SYS_ADMIN, BPF, CHECKPOINT_RESTORE: they would let root execute code in memory or lift the rules.
const dangerousCapabilities = [16, 17, 21, 39, 40];
// Node ignores these signals, and `execv` would pass that on to the program.
const ignoredByNode = [constants.signals.SIGPIPE, constants.signals.SIGXFSZ];
const guardFailed = 125;

/** Dependencies of `runGuard`: the C library, and a way to report errors. */
export interface GuardDeps {
  load(): Promise<Libc>;
  report(text: string): void;
}

/**
 * Restricts its own process, then calls `execv` to become a keeper's shell, so that no process is added.
 * 1. Landlock denies the execution of all but the allowed programs, here and in all descendants,
 * 2. a seccomp filter denies `memfd_create`, and capabilities that could lift the rules are dropped,
 * 3. the signals, descriptors and variables that Node changed are restored before `execv`.
 */
export async function runGuard(
  [options, ...program]: readonly string[],
  { load, report }: GuardDeps = { load: loadLibc, report: (text) => writeSync(2, text) },
): Promise<number> {
  try {
    const { allow, fds, env } = JSON.parse(options ?? '') as GuardOptions;
    const libc = await load().catch(refuseWithoutKoffi);
    restrict(libc, allow);
    for (const [name, value] of Object.entries(env)) libc.setEnv(name, value);
    for (const signal of ignoredByNode) libc.resetSignal(signal);
    for (const fd of fds) libc.clearCloseOnExec(fd);
    libc.exec(program);
  } catch (error) {
    report(`${toReason(error)}\n`);
  }
  return guardFailed;
}

function restrict(libc: Libc, allow: readonly string[]): void {
  checkVersion(libc);
  // A ruleset that does not grant `LANDLOCK_ACCESS_FS_REFER` denies renames and links between folders.
  const ruleset = libc.createRuleset(toAttributes(execute | refer));
  addRule(libc, ruleset, '/', refer);
  for (const path of allow) addRule(libc, ruleset, path, execute);
  for (const capability of dangerousCapabilities) libc.dropCapability(capability);
  libc.forbidNewPrivileges();
  libc.restrictSelf(ruleset);
  libc.installFilter(toSeccompFilter(memoryFiles));
}

function checkVersion(libc: Libc): void {
  if (!['x64', 'arm64'].includes(process.arch)) throw new Error(`the guard does not support ${process.arch}`);
  let version = 0;
  try {
    version = libc.landlockVersion();
  } catch (error) {
    throw new Error(
      `the kernel does not offer Landlock (${toReason(error)}); Linux 5.19 or newer is needed, with landlock enabled`,
    );
  }
  if (version < minVersion)
    throw new Error(`Landlock is too old (version ${version}); Linux 5.19 or newer is needed`);
}

// `openPath` returns null for a program that the sandbox hides, which cannot be executed anyway.
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
