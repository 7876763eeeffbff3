// How a command is held to its limits:
// 1. the limits of the settings and of the call become one set, the tighter of each,
// 2. a cgroup is made where the whole tree has a limit and the kernel lets us,
// 3. the command's shell binds itself by `ulimit` before it runs anything, and enters the cgroup or is put into it,
// 4. a watch looks at the tree while it runs, and tells by evidence whether a limit ended it.
import { release } from 'node:os';
import type { Limits } from '../../contract/limits.ts';
import type { Cgroup, Cgroups } from './cgroups.ts';
import { createWatch, type Watch, type WatchMeans } from './create-watch.ts';
import { isUnlimited, mergeLimits } from './merge-limits.ts';
import { toPrelude } from './to-prelude.ts';

/** What a warden is made of. */
export interface WardenMeans {
  /** The limits of every command. */
  readonly limits: Limits;
  /** Null where cgroups are left alone. */
  readonly cgroups: Cgroups | null;
  readonly isRoot: boolean;
}

/** How a command is about to be started. */
export interface WardPlan {
  readonly id: string;
  readonly asked: Limits | undefined;
  /** How many processes of ours live beside the command's in a user namespace of their own; null without one. */
  readonly ownProcesses: number | null;
  /** True when the command cannot lift its own limits, even as root. */
  readonly isPowerless: boolean;
  /** Whether the shell goes into the cgroup by itself, or is put there. */
  readonly enters: 'alone' | 'put';
}

/** One command's limits at work. */
export interface Ward {
  /** A line of bash for its shell; empty when there is nothing to bind. */
  readonly prelude: string;
  readonly group: Cgroup | null;
  /** What of the limits is not certain, in sentences. */
  readonly gaps: readonly string[];
  watch(means: Pick<WatchMeans, 'tree' | 'endedCpuMs'>): Watch;
  /** Undoes it for a command that was not started. */
  drop(): void;
}

/** Holds commands to limits. */
export interface Warden {
  take(plan: WardPlan): Ward;
  /** Resolves when every cgroup is gone. */
  close(): Promise<void>;
}

/** Makes the warden of a worker. */
export function createWarden({ limits: general, cgroups, isRoot }: WardenMeans): Warden {
  const leaving = new Set<Promise<void>>();
  const leave = (group: Cgroup | null) => {
    if (group === null) return;
    const gone = group.remove().finally(() => leaving.delete(gone));
    leaving.add(gone);
  };
  return {
    take(plan) {
      const limits = mergeLimits(general, plan.asked);
      const group = cgroups?.create(plan.id, limits) ?? null;
      const ownProcesses = !isRoot && countsPerNamespace() ? plan.ownProcesses : null;
      const prelude = toPrelude({
        limits,
        ownProcesses,
        enter: plan.enters === 'alone' && group ? group.lists : [],
      });
      const gaps = toGaps(limits, group, { ownProcesses, canLift: isRoot && !plan.isPowerless });
      const drop = () => leave(group);
      return {
        prelude,
        group,
        gaps,
        drop,
        watch: (means) => createWatch({ ...means, limits, group, onRelease: drop }),
      };
    },
    async close() {
      await Promise.all(leaving);
    },
  };
}

function toGaps(
  limits: Limits,
  group: Cgroup | null,
  { ownProcesses, canLift }: { readonly ownProcesses: number | null; readonly canLift: boolean },
): readonly string[] {
  if (isUnlimited(limits)) return [];
  const { treeMemoryBytes, maxProcesses } = limits;
  const memory = treeMemoryBytes !== undefined && !group?.holds.memory;
  const processes = maxProcesses !== undefined && !group?.holds.processes && ownProcesses === null;
  return [
    ...(memory
      ? ['The memory of a whole tree is looked at from time to time; the kernel does not hold it.']
      : []),
    ...(processes
      ? ['The number of processes is looked at from time to time; the kernel does not hold it.']
      : []),
    ...(canLift ? ['As root a command can lift its own limits.'] : []),
  ];
}

/** Whether the kernel counts a user's processes by namespace. Older ones would refuse a busy user the first fork. */
export function countsPerNamespace(version = release()): boolean {
  const [major = 0, minor = 0] = version.split('.').map((part) => Number.parseInt(part, 10));
  return process.platform === 'linux' && (major > 5 || (major === 5 && minor >= 14));
}
