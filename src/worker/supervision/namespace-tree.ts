import { setImmediate as nextTurn } from 'node:timers/promises';
import type { StopOptions } from '../../contract/backend.ts';
import type { JobEnd } from '../../contract/job.ts';
import { createStopwatch, settlesWithin, sleep } from '../../support/timing.ts';
import { politeSignals, sendSignal } from '../processes/process-exit.ts';
import type { ProcessInfo, ProcessTable, TreeRoot } from '../processes/process-table.ts';
import { describeProcesses, type ProcessTree, type TreeView } from '../processes/process-tree.ts';
import type { Keeper } from './follow-keeper.ts';

const confirmMs = 5_000;
// The keeper's `ended` message follows the end of the command's shell within this time.
const reportMs = 200;

/**
 * The processes of a command in a pid namespace. When the namespace's init process dies, the kernel kills every process of the
 * namespace before the init process itself is gone. So the end is certain, no matter how a process tries to hide, and checking the
 * init process confirms it.
 */
export class NamespaceTree implements ProcessTree {
  readonly #keeper: Keeper;
  readonly #table: ProcessTable;
  readonly #elapsed = createStopwatch();
  readonly #startTime: Promise<string | null>;
  #left: number | null = null;
  #reportedEmpty = false;

  constructor(keeper: Keeper, table: ProcessTable) {
    const { ownProcesses } = keeper;
    this.#keeper = keeper;
    this.#table = table;
    void keeper.ended.then(({ processes }) => {
      this.#left = processes === null ? 0 : processes - ownProcesses;
      this.#reportedEmpty = processes === ownProcesses;
    });
    // In the next event loop turn, because reading /proc now would delay the launch message.
    this.#startTime = nextTurn().then(() => table.startTime(keeper.pid).catch(() => null));
  }

  get pid(): number {
    return this.#keeper.pid;
  }

  get finished(): Promise<void> {
    return this.#keeper.gone;
  }

  certainlyEmpty(): boolean {
    return this.#left === 0;
  }

  async scan(): Promise<NamespaceView> {
    const root = await this.#root();
    return toView(this.#keeper, await this.#table.members(root).catch(() => []));
  }

  /** Finds all processes by ancestry: an orphan in the namespace becomes a child of its init process. */
  async sample(): Promise<NamespaceView> {
    const root = await this.#root();
    return toView(this.#keeper, await this.#table.descendants(root).catch(() => []));
  }

  async describe(): Promise<JobEnd['leftRunning']> {
    const { commandProcesses } = await this.scan();
    return describeProcesses(
      commandProcesses.map(({ pid }) => pid),
      this.#table,
    );
  }

  async end({ signal, graceMs }: StopOptions): Promise<JobEnd['survivors']> {
    for (const polite of politeSignals(signal)) {
      if (!(await this.#endPolitely(polite, graceMs))) continue;
      await settlesWithin(this.#keeper.ended, reportMs);
      break;
    }
    const { init, commandProcesses } = await this.#sampleOrScan();
    this.#keeper.end();
    sendSignal(init?.pid, 'SIGKILL');
    if (init === undefined) {
      // Either the init process is dead, or its supervisor is and the kernel is killing it. `gone` resolves afterwards.
      await settlesWithin(this.#keeper.gone, confirmMs);
      const survivor = this.#keeper.survivor();
      return describeProcesses(survivor === undefined ? [] : [survivor], this.#table);
    }
    if (await isGone(init, this.#table)) return [];
    return describeProcesses(
      commandProcesses.map(({ pid }) => pid),
      this.#table,
    );
  }

  /** Kills the namespace: a command can forge its keeper's `ended` message, so the message alone is not trusted. */
  release(): void {
    this.#keeper.end();
  }

  /** Waits after `release` until no process of the command can write any more (`KeeperLife.emptied`). */
  emptied(limitMs: number): Promise<boolean> {
    return this.#keeper.emptied(limitMs, this.#reportedEmpty);
  }

  async #root(): Promise<TreeRoot> {
    return {
      pid: this.#keeper.pid,
      startTime: await this.#startTime,
      marker: null,
      elapsed: this.#elapsed,
    };
  }

  // `scan` is slow if many commands are ended at the same time. It is only needed if `sample` missed the init process although the
  // process `Keeper.pid` lives.
  async #sampleOrScan(): Promise<NamespaceView> {
    const view = await this.sample();
    if (view.init !== undefined) return view;
    const isAlive = (await this.#table.startTime(this.#keeper.pid).catch(() => null)) !== null;
    return isAlive ? this.scan() : view;
  }

  /** Sends a signal and returns whether all processes have ended within `graceMs`. */
  async #endPolitely(signal: NodeJS.Signals, graceMs: number): Promise<boolean> {
    const { commandProcesses } = await this.#sampleOrScan();
    for (const { pid } of commandProcesses) sendSignal(pid, signal);
    // A stopped process handles no signal except SIGKILL until it gets SIGCONT.
    for (const { pid } of commandProcesses) sendSignal(pid, 'SIGCONT');
    const elapsed = createStopwatch();
    for (let delayMs = 1; elapsed() < graceMs; delayMs = Math.min(delayMs * 2, 50)) {
      // Checks twice: while a process gets a new parent, it is in neither parent's `/proc/PID/task/TID/children`.
      if ((await this.#isEmpty()) && (await this.#isEmpty())) return true;
      await sleep(Math.min(delayMs, Math.max(1, graceMs - elapsed())));
    }
    return false;
  }

  async #isEmpty(): Promise<boolean> {
    return (await this.#sampleOrScan()).commandProcesses.length === 0;
  }
}

interface NamespaceView extends TreeView {
  readonly init: ProcessInfo | undefined;
}

function toView(
  { pid, hasSupervisor, ownProcesses: ownCount }: Keeper,
  family: readonly ProcessInfo[],
): NamespaceView {
  const init = family.find((process) => (hasSupervisor ? process.parent : process.pid) === pid);
  // The keeper is the oldest child of init; later children of init are orphans of the command.
  const inside = family.filter((process) => process.pid !== pid && process !== init).sort(byAge);
  const ownProcesses = [...(init ? [init] : []), ...inside.slice(0, ownCount - 1)];
  return { init, ownProcesses, commandProcesses: inside.slice(ownCount - 1) };
}

function byAge(one: ProcessInfo, other: ProcessInfo): number {
  return Number(one.startTime) - Number(other.startTime) || one.pid - other.pid;
}

async function isGone(process: ProcessInfo, table: ProcessTable): Promise<boolean> {
  const elapsed = createStopwatch();
  for (let delayMs = 1; elapsed() < confirmMs; delayMs = Math.min(delayMs * 2, 50)) {
    if ((await table.startTime(process.pid).catch(() => null)) !== process.startTime) return true;
    await sleep(delayMs);
  }
  return false;
}
