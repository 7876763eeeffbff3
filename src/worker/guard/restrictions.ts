import type { GuardRules } from './guard-rules.ts';
import {
  keyrings,
  limitsOfOthers,
  memoryFiles,
  sockets,
  toSeccompFilter,
  truncation,
} from './seccomp-filter.ts';

// CAP_SYS_MODULE, SYS_RAWIO, SYS_ADMIN, BPF, CHECKPOINT_RESTORE: they would let root execute code in memory or lift the rules.
const dangerousCapabilities = [16, 17, 21, 39, 40];
const allCapabilities = Array.from({ length: 64 }, (_, number) => number);

/** The version of Landlock since which it restricts truncation, so that the filter need not. */
export const truncateVersion = 3;

/** The capabilities that the guard drops; a sandbox takes all of them from root, as bubblewrap does. */
export function capabilitiesToDrop({ files }: GuardRules): readonly number[] {
  return files ? allCapabilities : dangerousCapabilities;
}

/**
 * The bits of the other capabilities. Dropping them from the bounding set is not enough: some container runtimes fill the
 * inheritable set, which `execv` adds to root's, or withhold CAP_SETPCAP, without which the bounding set cannot be
 * changed. With no_new_privs, `execv` adds nothing that is not permitted already.
 */
export function capabilitiesToKeep(rules: GuardRules): bigint {
  const dropped = capabilitiesToDrop(rules);
  return allCapabilities
    .filter((number) => !dropped.includes(number))
    .reduce((bits, number) => bits | (1n << BigInt(number)), 0n);
}

/** The seccomp filter of a guard with this version of Landlock. */
export function filterFor({ execute, files }: GuardRules, version: number): Buffer {
  return toSeccompFilter([
    ...(execute ? memoryFiles : []),
    ...keyrings,
    ...(files?.signals === false ? limitsOfOthers : []),
    ...(files?.sockets === false ? sockets : []),
    ...(files && version < truncateVersion ? truncation : []),
  ]);
}
