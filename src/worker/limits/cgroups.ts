import { mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Limits } from '../../contract/limits.ts';
import { sleep } from '../../support/timing.ts';
import type { KernelCounts } from './explain-exit.ts';
import { type CgroupParent, type Controller, findCgroupParents } from './find-cgroup-parents.ts';

/** A cgroup that contains all processes of one command. */
export interface Cgroup {
  readonly enforces: EnforcedByCgroup;
  /** The `cgroup.procs` files, to which the pid of an entering process is written. */
  readonly procsFiles: readonly string[];
  enter(pid: number): void;
  counts(): KernelCounts;
  /** Removes the cgroup, retrying while `rmdir` fails because it still has processes. */
  remove(): Promise<void>;
}

/** The limits of a tree that its cgroup enforces: `memory.max` and `pids.max`. */
export interface EnforcedByCgroup {
  readonly memory: boolean;
  readonly processes: boolean;
}

/** Creates a cgroup for each command with a limit on its whole tree. */
export interface Cgroups {
  /** Creates a cgroup with these limits; `null` if none of them applies to a whole tree, or no cgroup can be made. */
  create(id: string, limits: Limits): Cgroup | null;
  /** Removes the cgroups of dead servers; `isDead` gets the owner, the middle part of a cgroup's name. */
  sweep(isDead: (owner: string) => Promise<boolean>): Promise<void>;
}

const prefix = 'nacre';
const maxRemoveTries = 40;

/** Creates cgroups below the server's own, named `nacre.SERVER.COMMAND`; parents are probed by creating one. */
export function createCgroups(owner: string, findParents = findCgroupParents): Cgroups {
  let usable: readonly CgroupParent[] | undefined;
  const usableParents = () => {
    usable ??= findParents({ mayEnable: true }).filter((parent) =>
      canLimit(parent, `${prefix}.${owner}.probe`),
    );
    return usable;
  };
  return {
    create(id, limits) {
      const parents = usableParents().filter(({ controllers }) =>
        controllers.some((one) => isLimited(one, limits)),
      );
      const groups: Group[] = [];
      try {
        for (const parent of parents) groups.push(makeGroup(parent, `${prefix}.${owner}.${id}`, limits));
      } catch {
        for (const { path } of groups) tryRemove(path);
        return null;
      }
      return groups.length === 0 ? null : toCgroup(groups, limits);
    },
    async sweep(isDead) {
      for (const { folder } of findParents({ mayEnable: false }))
        for (const name of readdirSync(folder)) {
          const [word, server, id] = name.split('.');
          if (word === prefix && server !== undefined && id !== undefined && (await isDead(server)))
            tryRemove(join(folder, name));
        }
    },
  };
}

interface Group extends Omit<CgroupParent, 'folder'> {
  readonly path: string;
}

function makeGroup({ folder, version, controllers }: CgroupParent, name: string, limits: Limits): Group {
  const path = join(folder, name);
  mkdirSync(path);
  try {
    for (const controller of controllers) setLimits(path, version, controller, limits);
  } catch (error) {
    tryRemove(path);
    throw error;
  }
  return { version, controllers, path };
}

function setLimits(path: string, version: 1 | 2, controller: Controller, limits: Limits): void {
  const { maxProcesses, treeMemoryBytes } = limits;
  const set = (file: string, value: number) => writeFileSync(join(path, file), String(value));
  const trySet = (file: string, value: number) => {
    try {
      set(file, value);
    } catch {
      // ENOENT on kernels without swap accounting; then only resident memory is limited.
    }
  };
  if (controller === 'pids' && maxProcesses !== undefined) set('pids.max', maxProcesses);
  if (controller !== 'memory' || treeMemoryBytes === undefined) return;
  set(version === 1 ? 'memory.limit_in_bytes' : 'memory.max', treeMemoryBytes);
  if (version === 1) trySet('memory.memsw.limit_in_bytes', treeMemoryBytes);
  else
    for (const [file, value] of [['memory.swap.max', 0] as const, ['memory.oom.group', 1] as const])
      trySet(file, value);
}

function toCgroup(groups: readonly Group[], limits: Limits): Cgroup {
  const find = (controller: Controller) =>
    isLimited(controller, limits)
      ? groups.find(({ controllers }) => controllers.includes(controller))
      : undefined;
  const [memory, pids] = [find('memory'), find('pids')];
  const memoryFile = memory?.version === 1 ? 'memory.oom_control' : 'memory.events';
  const procsFiles = groups.map(({ path }) => join(path, 'cgroup.procs'));
  return {
    enforces: { memory: memory !== undefined, processes: pids !== undefined },
    procsFiles,
    enter(pid) {
      for (const file of procsFiles) writeFileSync(file, String(pid));
    },
    counts: () => ({
      memoryKills: memory ? readCount(join(memory.path, memoryFile), 'oom_kill') : 0,
      refusedForks: pids ? readCount(join(pids.path, 'pids.events'), 'max') : 0,
    }),
    async remove() {
      for (const { path } of groups)
        for (let tries = 0; tries < maxRemoveTries && !tryRemove(path); tries += 1)
          await sleep(Math.min(2 ** tries, 50));
    },
  };
}

function isLimited(controller: Controller, { treeMemoryBytes, maxProcesses }: Limits): boolean {
  return (controller === 'memory' ? treeMemoryBytes : maxProcesses) !== undefined;
}

// `mkdir` may succeed although the limits cannot be set.
function canLimit(parent: CgroupParent, name: string): boolean {
  try {
    const probe = { treeMemoryBytes: 1_073_741_824, maxProcesses: 1_000 };
    return tryRemove(makeGroup(parent, name, probe).path);
  } catch {
    return false;
  }
}

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
