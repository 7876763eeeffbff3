import { mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Limits } from '../../contract/limits.ts';
import { pause } from '../../support/pause.ts';
import { findCgroupParents, type Hierarchy } from './find-cgroup-parents.ts';
import type { KernelCounts } from './judge-end.ts';

/** The kernel's own account of one command's whole tree. */
export interface Cgroup {
  readonly holds: Holds;
  /** The files that take the number of a process that enters. */
  readonly lists: readonly string[];
  enter(pid: number): void;
  counts(): KernelCounts;
  /** Takes it away once nothing lives in it. */
  remove(): Promise<void>;
}

/** What of a tree the kernel holds to its limit. */
export interface Holds {
  readonly memory: boolean;
  readonly processes: boolean;
}

/** Makes a cgroup for each command that has a limit for its whole tree. */
export interface Cgroups {
  /** A group with these limits; null when there is nothing for it to hold, or none can be made here. */
  create(id: string, limits: Limits): Cgroup | null;
  /** Takes away the groups of servers for which `isDead` holds, given the middle of the name. */
  sweep(isDead: (owner: string) => Promise<boolean>): Promise<void>;
}

const mark = 'nacre';
const removeTries = 40;

/** Cgroups below the server's own, named after the server and the command; whether any can be made is found out by making one. */
export function createCgroups(owner: string, find = findCgroupParents): Cgroups {
  let usable: readonly Hierarchy[] | undefined;
  const hierarchies = () => {
    usable ??= find({ mayEnable: true }).filter((hierarchy) => works(hierarchy, `${mark}.${owner}.probe`));
    return usable;
  };
  return {
    create(id, limits) {
      const wanted = hierarchies().filter(({ controls }) => controls.some((one) => isLimited(one, limits)));
      const folders: Folder[] = [];
      try {
        for (const hierarchy of wanted) folders.push(makeFolder(hierarchy, `${mark}.${owner}.${id}`, limits));
      } catch {
        for (const { path } of folders) tryRemove(path);
        return null;
      }
      return folders.length === 0 ? null : toCgroup(folders, limits);
    },
    async sweep(isDead) {
      for (const { parent } of find({ mayEnable: false }))
        for (const name of readdirSync(parent)) {
          const [word, dead, id] = name.split('.');
          if (word === mark && dead !== undefined && id !== undefined && (await isDead(dead)))
            tryRemove(join(parent, name));
        }
    },
  };
}

interface Folder extends Hierarchy {
  readonly path: string;
}

function makeFolder(hierarchy: Hierarchy, name: string, limits: Limits): Folder {
  const path = join(hierarchy.parent, name);
  mkdirSync(path);
  try {
    for (const control of hierarchy.controls) bind(path, hierarchy.version, control, limits);
  } catch (error) {
    tryRemove(path);
    throw error;
  }
  return { ...hierarchy, path };
}

function bind(path: string, version: 1 | 2, control: 'memory' | 'pids', limits: Limits): void {
  const { maxProcesses, treeMemoryBytes } = limits;
  const set = (file: string, value: number) => writeFileSync(join(path, file), String(value));
  const trySet = (file: string, value: number) => {
    try {
      set(file, value);
    } catch {
      // Without an account of swap there is only the limit of what is in memory.
    }
  };
  if (control === 'pids' && maxProcesses !== undefined) set('pids.max', maxProcesses);
  if (control !== 'memory' || treeMemoryBytes === undefined) return;
  set(version === 1 ? 'memory.limit_in_bytes' : 'memory.max', treeMemoryBytes);
  if (version === 1) trySet('memory.memsw.limit_in_bytes', treeMemoryBytes);
  else
    for (const [file, value] of [['memory.swap.max', 0] as const, ['memory.oom.group', 1] as const])
      trySet(file, value);
}

function toCgroup(folders: readonly Folder[], limits: Limits): Cgroup {
  const holding = (control: 'memory' | 'pids') =>
    isLimited(control, limits) ? folders.find(({ controls }) => controls.includes(control)) : undefined;
  const [memory, pids] = [holding('memory'), holding('pids')];
  const memoryFile = memory?.version === 1 ? 'memory.oom_control' : 'memory.events';
  const lists = folders.map(({ path }) => join(path, 'cgroup.procs'));
  return {
    holds: { memory: memory !== undefined, processes: pids !== undefined },
    lists,
    enter(pid) {
      for (const list of lists) writeFileSync(list, String(pid));
    },
    counts: () => ({
      memoryKills: memory ? readCount(join(memory.path, memoryFile), 'oom_kill') : 0,
      refusedForks: pids ? readCount(join(pids.path, 'pids.events'), 'max') : 0,
    }),
    async remove() {
      for (const { path } of folders)
        for (let tries = 0; tries < removeTries && !tryRemove(path); tries += 1)
          await pause(Math.min(2 ** tries, 50));
    },
  };
}

function isLimited(control: 'memory' | 'pids', { treeMemoryBytes, maxProcesses }: Limits): boolean {
  return (control === 'memory' ? treeMemoryBytes : maxProcesses) !== undefined;
}

// A folder that can be made may still be one whose limits cannot be set.
function works(hierarchy: Hierarchy, name: string): boolean {
  try {
    const probe = { treeMemoryBytes: 1_073_741_824, maxProcesses: 1_000 };
    return tryRemove(makeFolder(hierarchy, name, probe).path);
  } catch {
    return false;
  }
}

/** True when it is gone. */
function tryRemove(path: string): boolean {
  try {
    rmdirSync(path);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT';
  }
}

function readCount(path: string, name: string): number {
  try {
    const line = readFileSync(path, 'latin1')
      .split('\n')
      .find((one) => one.startsWith(`${name} `));
    return Number(line?.slice(name.length + 1) ?? 0);
  } catch {
    return 0;
  }
}
