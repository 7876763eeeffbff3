import type { StopOptions } from '../../contract/backend.ts';
import type { JobEnd } from '../../contract/job.ts';
import { endTree, groupLives, listMembers } from './end-tree.ts';
import type { ProcessInfo, ProcessTable, TreeRoot } from './process-table.ts';

/** What lives of a command now. */
export interface TreeView {
  /** The command's own processes. */
  readonly guests: readonly ProcessInfo[];
  /** Ours above them, whose ended children were the command's. */
  readonly hosts: readonly ProcessInfo[];
}

/** The processes that a command has started, as the job that runs it needs to know them. */
export interface ProcessTree {
  readonly pid: number;
  /** True when it is certain, at little cost, that the command has left nothing running. */
  certainlyEmpty(): boolean;
  /** Resolves when nothing of it is left, where that can be seen without asking again and again. */
  readonly finished: Promise<void>;
  /** What lives of it, for people. */
  describe(): Promise<JobEnd['leftRunning']>;
  /** Looks at its processes. */
  look(): Promise<TreeView>;
  /** The same at little cost, for those who look again and again; what starts or ends meanwhile may be missed. */
  glance(): Promise<TreeView>;
  /** Ends all of it and tells what would not die (normally nothing). */
  end(options: StopOptions): Promise<JobEnd['survivors']>;
  /** Lets go of what kept the tree in view. */
  release(): void;
}

/** A tree that is found by looking for it: by ancestry, process group, session or the marker. */
export function createFoundTree(root: TreeRoot, table: ProcessTable): ProcessTree {
  const toPeople = (pids: readonly number[]) =>
    Promise.all(pids.map(async (pid) => ({ pid, command: await table.describe(pid) })));
  const look = async () => ({ guests: await table.members(root), hosts: [] });
  return {
    pid: root.pid,
    finished: new Promise(() => {}),
    release() {},
    certainlyEmpty: () => table.certainlyEmpty(root),
    look,
    // What has left its parents is found by looking at everything.
    glance: look,
    describe: async () => toPeople((await listMembers(root, table)) ?? []),
    async end(options) {
      const left = options.signal === 'SIGKILL' ? null : await listMembers(root, table);
      if (left?.length === 0 && !groupLives(root.pid)) return [];
      return toPeople(await endTree(root, { table, ...options }));
    },
  };
}
