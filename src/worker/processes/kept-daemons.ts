import type { StopOptions } from '../../contract/backend.ts';
import type { ProcessRef } from '../../contract/job.ts';
import { pause } from '../../support/pause.ts';
import { createStopwatch } from '../../support/stopwatch.ts';
import type { ProcessTable } from './process-table.ts';
import type { ProcessTree } from './process-tree.ts';

/** The daemons that may stay after the command that started them, until the server ends. */
export interface KeptDaemons {
  /** Ends what a command has left running but for such daemons, and tells which of them are there. */
  spare(tree: ProcessTree, options: StopOptions): Promise<readonly ProcessRef[]>;
  /** Takes charge of a tree in which some stay; lets it go when the last of them has ended. */
  hold(tree: ProcessTree, release: () => void): void;
  /** Ends them all. */
  close(): Promise<void>;
}

/** What is not promised where daemons may stay, in sentences. */
export function keepGaps(names: readonly string[]): readonly string[] {
  if (names.length === 0) return [];
  return [`What is called ${names.join(' or ')} may stay after its command until nacre ends (keep).`];
}

// The kernel keeps this much of a name.
const nameLength = 15;
const lookMs = 1_000;
const insistMs = 5_000;

/** Makes what watches over the daemons of these names. */
export function createKeptDaemons(names: readonly string[], table: ProcessTable): KeptDaemons {
  const wanted = new Set(names.map((name) => name.slice(0, nameLength)));
  const held = new Map<ProcessTree, () => void>();
  let timer: NodeJS.Timeout | undefined;

  const findDaemons = async (tree: ProcessTree) => {
    const { guests } = await tree.look();
    const names = await Promise.all(guests.map(({ pid }) => table.nameOf(pid)));
    return guests.filter((_guest, index) => wanted.has(names[index] ?? ''));
  };
  const letGo = (tree: ProcessTree) => {
    held.get(tree)?.();
    held.delete(tree);
    if (held.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
  const look = async () => {
    for (const tree of held.keys()) {
      const daemons = await findDaemons(tree).catch(() => null);
      if (daemons?.length === 0) letGo(tree);
    }
  };

  return {
    async spare(tree, { signal, graceMs }) {
      if (wanted.size === 0) return [];
      const daemons = await findDaemons(tree);
      if (daemons.length === 0) return [];
      const spared = new Set(daemons.map(({ pid }) => pid));
      const elapsed = createStopwatch();
      for (let sent: NodeJS.Signals | null = null; elapsed() < graceMs + insistMs; await pause(10)) {
        const others = (await tree.look()).guests.filter(({ pid }) => !spared.has(pid));
        if (others.length === 0) break;
        const next = elapsed() < graceMs ? signal : 'SIGKILL';
        if (next !== sent || next === 'SIGKILL') for (const { pid } of others) send(pid, next);
        sent = next;
      }
      return Promise.all(daemons.map(async ({ pid }) => ({ pid, command: await table.describe(pid) })));
    },
    hold(tree, release) {
      held.set(tree, release);
      timer ??= setInterval(() => void look(), lookMs).unref();
    },
    async close() {
      const trees = [...held.keys()];
      await Promise.all(trees.map((tree) => tree.end({ signal: 'SIGKILL', graceMs: 0 })));
      for (const tree of trees) letGo(tree);
    },
  };
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended by itself.
  }
}
