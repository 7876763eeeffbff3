import type { StopOptions } from '../../contract/backend.ts';
import type { JobEnd, ProcessRef } from '../../contract/job.ts';
import { createStopwatch, sleep } from '../../support/timing.ts';
import { endTree, groupLives, listMembers } from './end-tree.ts';
import type { ProcessInfo, ProcessTable, TreeRoot } from './process-table.ts';

/** The living processes of a `ProcessTree` at one moment. */
export interface TreeView {
  /** Processes that the command started, its shell included. */
  readonly commandProcesses: readonly ProcessInfo[];
  /** nacre's own processes above them, such as the keeper; their `childrenCpuMs` is CPU time of the command. */
  readonly ownProcesses: readonly ProcessInfo[];
}

/** The processes that a command has started. */
export interface ProcessTree {
  readonly pid: number;
  /** True if a cheap check, such as the keeper's report, proves that nothing is left running. */
  certainlyEmpty(): boolean;
  /** Resolves when every process has ended; never resolves where that can only be found out by polling. */
  readonly finished: Promise<void>;
  /** The pid and command line of every living process. */
  describe(): Promise<JobEnd['leftRunning']>;
  /** Lists the living processes with `ProcessTable.members`, which scans all processes of the machine. */
  scan(): Promise<TreeView>;
  /** Lists them cheaply, for polling, with `ProcessTable.descendants` where that is sufficient. */
  sample(): Promise<TreeView>;
  /** Ends every process and returns those that survived SIGKILL (normally none). */
  end(options: StopOptions): Promise<JobEnd['survivors']>;
  /** Ends the namespace of an ended tree, if it has one. */
  release(): void;
}

/** Makes a tree whose processes are found by ancestry, process group, session or marker variable. */
export function createFoundTree(root: TreeRoot, table: ProcessTable): ProcessTree {
  const scan = async () => ({ commandProcesses: await table.members(root), ownProcesses: [] });
  return {
    pid: root.pid,
    finished: new Promise(() => {}),
    release() {},
    certainlyEmpty: () => table.certainlyEmpty(root),
    scan,
    // A process that was orphaned is no descendant any more, so only a full scan finds it.
    sample: scan,
    describe: async () => describeProcesses((await listMembers(root, table)) ?? [], table),
    async end(options) {
      const left = options.signal === 'SIGKILL' ? null : await listMembers(root, table);
      if (left?.length === 0 && !groupLives(root.pid)) return [];
      return describeProcesses(await endTree(root, { table, ...options }), table);
    },
  };
}

/** Adds the command line to each pid (`ProcessTable.describe`). */
export function describeProcesses(
  pids: readonly number[],
  table: ProcessTable,
): Promise<readonly ProcessRef[]> {
  return Promise.all(pids.map(async (pid) => ({ pid, command: await table.describe(pid) })));
}

// A process that has closed its outputs may still be exiting; it does not count as left running.
const settleMs = 50;

/** Describes what is left of a tree, after giving processes that are about to exit up to `settleMs`. */
export async function describeSettled(tree: ProcessTree): Promise<JobEnd['leftRunning']> {
  const elapsed = createStopwatch();
  for (let delayMs = 1; ; delayMs *= 2) {
    const left = await tree.describe();
    if (left.length === 0 || elapsed() >= settleMs) return left;
    await sleep(delayMs);
  }
}
