import { existsSync } from 'node:fs';
import { childrenOfTask } from '../processes/descendants.ts';
import { readStartTime } from './until-gone.ts';

/** nacre's own processes below a supervisor. */
export interface Family {
  /** The init process of the namespace; its death ends the namespace. */
  readonly init: number;
  /** Identifies `init` after its pid is reused. */
  readonly initStartTime: string | null;
  /** The keeper, which at level `unshare` is the init process itself. */
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

/** Finds the processes below a supervisor whose keeper is ready; undefined if the supervisor is dead. */
export function findFamily(supervisor: number, ownProcesses: number): Family | undefined {
  const [init] = childrenOfTask(supervisor);
  if (init === undefined) return undefined;
  const keeper = ownProcesses === 1 ? init : childrenOfTask(init)[0];
  if (keeper === undefined) return undefined;
  return { init, initStartTime: readStartTime(init), keeper, shell: childrenOfTask(keeper)[0] };
}
