// How a command is limited:
// 1. `mergeLimits` combines the limits of the settings and of the call: the tighter of each,
// 2. `cgroups.create` makes a cgroup if the whole tree has a limit and the kernel permits one,
// 3. the command's shell runs the prelude (`ulimit`) before the command, and enters the cgroup itself or is put into it,
// 4. a `TreeWatch` samples the tree while it runs, and finds out from the evidence whether a limit ended it.
import { release } from 'node:os';
import type { Limits } from '../../contract/limits.ts';
import { quote } from '../../support/quote.ts';
import type { Cgroup, Cgroups } from './cgroups.ts';
import { isUnlimited, mergeLimits } from './merge-limits.ts';
import { type ResourceWatch, TreeWatch, type TreeWatchDeps } from './resource-watch.ts';

/** Dependencies of `createLimitEnforcer`. */
export interface LimitEnforcerDeps {
  /** The limits of every command, from the settings. */
  readonly limits: Limits;
  /** `null` if cgroups must not be used. */
  readonly cgroups: Cgroups | null;
  readonly isRoot: boolean;
  /** The umask of commands, if it differs from that of this process. */
  readonly umask?: number | undefined;
}

/** Facts about the start of a command that decide how its limits are applied. */
export interface LimitPlan {
  readonly id: string;
  readonly asked: Limits | undefined;
  /** False if the command shares the namespaces of this process. */
  readonly hasNamespace: boolean;
  /** True when the command cannot raise its own limits, even as root. */
  readonly cannotRaiseLimits: boolean;
  /** `shell`: the shell enters the cgroup itself; `caller`: the caller puts it there by pid. */
  readonly entry: 'shell' | 'caller';
}

/** The limits of one command, as `LimitEnforcer` applies them. */
export interface AppliedLimits {
  /**
   * A line of bash for the command's shell; empty if there is nothing to limit. `ownProcesses` is the number of nacre's processes in
   * the command's namespace, which count towards its limit on processes.
   */
  toPrelude(ownProcesses?: number): string;
  readonly group: Cgroup | null;
  /** Sentences about limits that are not enforced reliably. */
  readonly gaps: readonly string[];
  watch(deps: Pick<TreeWatchDeps, 'tree' | 'endedCpuMs'>): ResourceWatch;
  /** Removes the cgroup of a command that was not started (`watch` removes it otherwise). */
  discard(): void;
}

/** Applies limits to commands. */
export interface LimitEnforcer {
  apply(plan: LimitPlan): AppliedLimits;
  close(): Promise<void>;
}

/** Creates the limit enforcer of a worker. */
export function createLimitEnforcer(deps: LimitEnforcerDeps): LimitEnforcer {
  const { limits: general, cgroups, isRoot, umask } = deps;
  const removals = new Set<Promise<void>>();
  const remove = (group: Cgroup | null) => {
    if (group === null) return;
    const removal = group.remove().finally(() => removals.delete(removal));
    removals.add(removal);
  };
  return {
    apply(plan) {
      const limits = mergeLimits(general, plan.asked);
      const group = cgroups?.create(plan.id, limits) ?? null;
      const countsProcesses = plan.hasNamespace && !isRoot && countsPerNamespace();
      const cgroupFiles = plan.entry === 'shell' && group ? group.procsFiles : [];
      const discard = () => remove(group);
      return {
        toPrelude: (own = 0) =>
          toPrelude({ limits, ownProcesses: countsProcesses ? own : null, cgroupFiles, umask }),
        group,
        gaps: toGaps(limits, group, { countsProcesses, canRaise: isRoot && !plan.cannotRaiseLimits }),
        discard,
        watch: (deps) => new TreeWatch({ ...deps, limits, group, onRelease: discard }),
      };
    },
    async close() {
      await Promise.all(removals);
    },
  };
}

function toGaps(
  limits: Limits,
  group: Cgroup | null,
  { countsProcesses, canRaise }: { readonly countsProcesses: boolean; readonly canRaise: boolean },
): readonly string[] {
  if (isUnlimited(limits)) return [];
  const { treeMemoryBytes, maxProcesses } = limits;
  const memory = treeMemoryBytes !== undefined && !group?.enforces.memory;
  const processes = maxProcesses !== undefined && !group?.enforces.processes && !countsProcesses;
  return [
    ...(memory ? ['The memory of the whole process tree is only sampled, not limited by the kernel.'] : []),
    ...(processes ? ['The number of processes is only sampled, not limited by the kernel.'] : []),
    ...(canRaise ? ['As root, a command can raise its own limits.'] : []),
  ];
}

/** True if RLIMIT_NPROC counts per user namespace (Linux 5.14). On older kernels a busy user could not fork at all. */
export function countsPerNamespace(version = release()): boolean {
  const [major = 0, minor = 0] = version.split('.').map((part) => Number.parseInt(part, 10));
  return process.platform === 'linux' && (major > 5 || (major === 5 && minor >= 14));
}

/** The limits that a shell sets on itself with `ulimit` before it runs a command. */
export interface PreludePlan {
  readonly limits: Limits;
  /** How many of nacre's own processes RLIMIT_NPROC counts with the command's; null if it would count all of the user's. */
  readonly ownProcesses: number | null;
  /** The `cgroup.procs` files to which the shell writes its own pid. */
  readonly cgroupFiles: readonly string[];
  readonly umask?: number | undefined;
}

// Seconds of CPU time between SIGXCPU (soft limit) and SIGKILL (hard limit).
const cpuGraceSeconds = 2;

/** One line of `ulimit` commands for the shell and everything that it starts; empty if there is nothing to limit. */
export function toPrelude({ limits, ownProcesses, cgroupFiles, umask }: PreludePlan): string {
  const { memoryBytes, cpuSeconds, fileBytes, maxProcesses } = limits;
  const steps = [
    ...(umask === undefined ? [] : [`umask ${umask.toString(8)}`]),
    ...cgroupFiles.map((file) => `echo "$$" >${quote(file)} || exit 125`),
    ...(memoryBytes === undefined ? [] : [limit('d', toKib(memoryBytes))]),
    ...(fileBytes === undefined ? [] : [limit('f', toKib(fileBytes))]),
    ...(maxProcesses === undefined || ownProcesses === null ? [] : [limit('u', maxProcesses + ownProcesses)]),
    ...(cpuSeconds === undefined ? [] : [limit('t', cpuSeconds + cpuGraceSeconds), softCpuLimit(cpuSeconds)]),
  ];
  return steps.join('; ');
}

// If the server's own hard limit is lower, `ulimit` fails and that limit stays.
function limit(option: string, value: number): string {
  return `ulimit -${option} ${value} 2>/dev/null || ulimit -S${option} hard`;
}

function softCpuLimit(seconds: number): string {
  return `ulimit -St ${seconds} 2>/dev/null || :`;
}

function toKib(bytes: number): number {
  return Math.ceil(bytes / 1_024);
}
