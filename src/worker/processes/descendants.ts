import { readdirSync, readFileSync } from 'node:fs';

/** The numbers of everything below a process, nearest first; what /proc does not show is left out. */
export function descendantsOf(pid: number): readonly number[] {
  const found: number[] = [];
  for (let level = childrenOf(pid); level.length > 0; level = level.flatMap(childrenOf)) found.push(...level);
  return found;
}

/** The numbers of a process's children, oldest first for one without threads. */
export function childrenOf(pid: number): readonly number[] {
  return tasksOf(pid).flatMap((task) => {
    const text = readOrEmpty(`/proc/${pid}/task/${task}/children`).trim();
    return text === '' ? [] : text.split(' ').map(Number);
  });
}

/** The numbers of a process's threads. */
export function tasksOf(pid: number): readonly number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).map(Number);
  } catch {
    return [];
  }
}

/** A file of /proc, or nothing where it cannot be read. */
export function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}
