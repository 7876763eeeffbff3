import { readdirSync, readFileSync } from 'node:fs';

/** The pids of all descendants of a process, children first; without those that /proc does not show. */
export function descendantsOf(pid: number): readonly number[] {
  const found: number[] = [];
  for (let level = childrenOf(pid); level.length > 0; level = level.flatMap(childrenOf)) found.push(...level);
  return found;
}

/** The pids in `/proc/PID/task/TID/children`; oldest first if the process has one thread. */
export function childrenOf(pid: number): readonly number[] {
  return tasksOf(pid).flatMap((task) => childrenOfTask(pid, task));
}

/** The pids of the processes that one thread has forked; by default the first, which in a process like bash is the only one. */
export function childrenOfTask(pid: number, task = pid): readonly number[] {
  const text = readOrEmpty(`/proc/${pid}/task/${task}/children`).trim();
  return text === '' ? [] : text.split(' ').map(Number);
}

/** The thread ids of a process. */
export function tasksOf(pid: number): readonly number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).map(Number);
  } catch {
    return [];
  }
}

/** The text of a file below /proc; empty if it cannot be read. */
export function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}
