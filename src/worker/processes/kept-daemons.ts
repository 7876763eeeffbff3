import type { StopOptions } from '../../contract/backend.ts';
import type { ProcessRef } from '../../contract/job.ts';
import { createStopwatch, sleep } from '../../support/timing.ts';
import { sendSignal } from './process-exit.ts';
import type { ProcessInfo, ProcessTable } from './process-table.ts';
import { describeProcesses, type ProcessTree } from './process-tree.ts';

/** The gap to report if the setting `keep` allows daemons to keep running; empty without it. */
export function keepGaps(names: readonly string[]): readonly string[] {
  if (names.length === 0) return [];
  return [
    `A process named ${names.join(' or ')} may keep running after its command until nacre exits (keep).`,
  ];
}

// The kernel cuts a process name (`/proc/PID/comm`) to this length.
const nameLength = 15;
const killMs = 5_000;

/** Daemons that, by the setting `keep`, keep running after the command that started them, until the server ends. */
export class KeptDaemons {
  readonly #names: ReadonlySet<string>;
  readonly #table: ProcessTable;
  readonly #pollMs: number;
  readonly #adopted = new Map<ProcessTree, () => void>();
  #timer: NodeJS.Timeout | undefined;

  constructor(names: readonly string[], table: ProcessTable, pollMs = 1_000) {
    this.#names = new Set(names.map((name) => name.slice(0, nameLength)));
    this.#table = table;
    this.#pollMs = pollMs;
  }

  /** If a tree contains kept daemons, ends every other process and returns the daemons; otherwise does nothing. */
  async endOthers(tree: ProcessTree, options: StopOptions): Promise<readonly ProcessRef[]> {
    if (this.#names.size === 0) return [];
    const daemons = (await this.#findIn(tree)).map(({ pid }) => pid);
    if (daemons.length === 0) return [];
    await endAllBut(new Set(daemons), tree, options);
    return describeProcesses(daemons, this.#table);
  }

  /** Polls a tree that contains kept daemons; calls `release` when the last of them has ended. */
  adopt(tree: ProcessTree, release: () => void): void {
    this.#adopted.set(tree, release);
    this.#timer ??= setInterval(() => void this.#poll(), this.#pollMs).unref();
  }

  /** Sends SIGKILL to all kept daemons. */
  async close(): Promise<void> {
    const trees = [...this.#adopted.keys()];
    await Promise.all(trees.map((tree) => tree.end({ signal: 'SIGKILL', graceMs: 0 })));
    for (const tree of trees) this.#release(tree);
  }

  async #findIn(tree: ProcessTree): Promise<readonly ProcessInfo[]> {
    const { commandProcesses } = await tree.scan();
    const names = await Promise.all(commandProcesses.map(({ pid }) => this.#table.nameOf(pid)));
    return commandProcesses.filter((_process, index) => this.#names.has(names[index] ?? ''));
  }

  async #poll(): Promise<void> {
    for (const tree of this.#adopted.keys()) {
      const daemons = await this.#findIn(tree).catch(() => null);
      if (daemons?.length === 0) this.#release(tree);
    }
  }

  #release(tree: ProcessTree): void {
    this.#adopted.get(tree)?.();
    this.#adopted.delete(tree);
    if (this.#adopted.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }
}

async function endAllBut(
  spared: ReadonlySet<number>,
  tree: ProcessTree,
  { signal, graceMs }: StopOptions,
): Promise<void> {
  const elapsed = createStopwatch();
  for (let sent: NodeJS.Signals | null = null; elapsed() < graceMs + killMs; await sleep(10)) {
    const others = (await tree.scan()).commandProcesses.filter(({ pid }) => !spared.has(pid));
    if (others.length === 0) return;
    const next = elapsed() < graceMs ? signal : 'SIGKILL';
    if (next !== sent || next === 'SIGKILL') for (const { pid } of others) sendSignal(pid, next);
    sent = next;
  }
}
