import { existsSync } from 'node:fs';
import { childrenOfTask } from '../processes/descendants.ts';
import { readStartTime } from './until-gone.ts';

/** Describes nacre's own processes from `Keeper.pid` down to the command's shell. */
export interface OwnProcesses {
  /** True if `Keeper.pid` is a supervisor, whose child is the init process; false if it is the init process itself. */
  readonly hasSupervisor: boolean;
  /** The number of them in the namespace: 2 for init and keeper, 1 for a keeper that is also init, 0 without a namespace. */
  readonly ownProcesses: number;
}

/** nacre's own processes in a namespace. */
export interface Family {
  /** The init process of the namespace; its death ends the namespace. */
  readonly init: number;
  /** Identifies `init` after its pid is reused. */
  readonly initStartTime: string | null;
  /** The keeper; the same process as `init` if `ownProcesses` is 1. */
  readonly keeper: number;
  /** The shell that waits for its launch message; undefined if it has ended. */
  readonly shell: number | undefined;
}

let canList: boolean | undefined;

/** True if the kernel lists the children of a process in /proc (CONFIG_PROC_CHILDREN). */
export function canFindFamily(): boolean {
  canList ??= existsSync(`/proc/self/task/${process.pid}/children`);
  return canList;
}

/** Finds the processes of a keeper that is ready; undefined if its supervisor or its init process is dead. */
export function findFamily(pid: number, { hasSupervisor, ownProcesses }: OwnProcesses): Family | undefined {
  const init = hasSupervisor ? childrenOfTask(pid)[0] : pid;
  if (init === undefined) return undefined;
  const initStartTime = readStartTime(init);
  if (!hasSupervisor && initStartTime === null) return undefined;
  const keeper = ownProcesses === 1 ? init : childrenOfTask(init)[0];
  if (keeper === undefined) return undefined;
  return { init, initStartTime, keeper, shell: childrenOfTask(keeper)[0] };
}
