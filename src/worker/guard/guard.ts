import { writeSync } from 'node:fs';
import { constants } from 'node:os';
import type { GuardOptions } from './guard-rules.ts';
import { createRuleset } from './landlock-ruleset.ts';
import { type Libc, loadLibc } from './libc.ts';
import { capabilitiesToDrop, capabilitiesToKeep, filterFor } from './restrictions.ts';

const minVersion = 2;
// Node ignores these signals, and `execv` would pass that on to the program.
const ignoredByNode = [constants.signals.SIGPIPE, constants.signals.SIGXFSZ];
const guardFailed = 125;

/** Dependencies of `runGuard`: the C library, and a way to report errors. */
export interface GuardDeps {
  load(): Promise<Libc>;
  report(text: string): void;
}

/**
 * Restricts its own process, then calls `execv` to become a command's shell, so that no process is added.
 * 1. Landlock denies the execution of all but the allowed programs, or access to files outside of the sandbox, here and
 *    in all descendants,
 * 2. a seccomp filter denies what Landlock does not cover, and capabilities that could lift the rules are dropped,
 * 3. the signals, descriptors and variables that Node changed are restored before `execv`.
 */
export async function runGuard(
  [options, ...program]: readonly string[],
  { load, report }: GuardDeps = { load: loadLibc, report: (text) => writeSync(2, text) },
): Promise<number> {
  try {
    const parsed = JSON.parse(options ?? '') as GuardOptions;
    const { fds, env, readyFd } = parsed;
    const libc = await load().catch(refuseWithoutKoffi);
    const version = restrict(libc, parsed);
    for (const [name, value] of Object.entries(env)) libc.setEnv(name, value);
    for (const signal of ignoredByNode) libc.resetSignal(signal);
    for (const fd of fds) libc.clearCloseOnExec(fd);
    if (readyFd !== undefined) writeSync(readyFd, `ready ${version}\0`);
    libc.exec(program);
  } catch (error) {
    report(`${toReason(error)}\n`);
  }
  return guardFailed;
}

function restrict(libc: Libc, options: GuardOptions): number {
  const version = readVersion(libc);
  const ruleset = createRuleset(libc, version, options);
  for (const capability of capabilitiesToDrop(options)) libc.dropCapability(capability);
  libc.clearAmbientCapabilities();
  libc.keepCapabilities(capabilitiesToKeep(options));
  libc.forbidNewPrivileges();
  libc.restrictSelf(ruleset);
  libc.installFilter(filterFor(options, version));
  return version;
}

function readVersion(libc: Libc): number {
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
  return version;
}

function refuseWithoutKoffi(error: unknown): never {
  throw new Error(`the optional package koffi could not be loaded (${toReason(error)})`);
}

function toReason(error: unknown): string {
  return String(error instanceof Error ? error.message : error).replace(/\n.*$/s, '');
}
