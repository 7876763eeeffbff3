import type { Limits, Resources } from '../../contract/limits.ts';
import { createStopwatch } from '../../support/timing.ts';
import type { ProcessExit } from '../processes/process-exit.ts';
import type { ProcessTree, TreeView } from '../processes/process-tree.ts';
import type { Cgroup } from './cgroups.ts';
import { explainExit, type LimitReached, treeMemoryExceeded } from './explain-exit.ts';
import { formatLimit } from './format-limit.ts';
import { isUnlimited } from './merge-limits.ts';
import { PeakUsage, proportionalBytes, residentBytes, threadCount } from './peak-usage.ts';

/** Watches the resources of one command. */
export interface ResourceWatch {
  /** Starts sampling; `onLimit` is called once if the tree exceeds a limit that the kernel does not enforce. */
  start(onLimit: (reached: LimitReached) => void): void;
  resources(): Resources;
  /** Records a `TreeView` that the caller has taken. */
  record(view: TreeView): void;
  /** Finds out which limit ended a command that was not stopped by nacre; `null` if none did. */
  explainExit(exit: ProcessExit, stderr: () => Promise<string>): Promise<LimitReached | null>;
  stop(): void;
  /** Removes the cgroup through `onRelease`, once no process of the tree is left. */
  release(): void;
}

/** Dependencies of a `TreeWatch`. */
export interface TreeWatchDeps {
  readonly limits: Limits;
  readonly tree: ProcessTree;
  readonly group: Cgroup | null;
  /** CPU time of the ended processes, if the keeper counts it; called by `explainExit` and `resources`. */
  endedCpuMs(): number | null;
  onRelease(): void;
}

// Most commands end before the first sample and cost nothing.
const firstSampleMs = 150;
const longestDelayMs = 1_000;
// A tree that has been idle for long is sampled rarely; one that has just become idle may soon continue.
const longestIdleDelayMs = 30_000;
const idleFactor = 1 / 8;
// Delay when sampling is the only thing that enforces a limit.
const enforcingDelayMs = 50;
// Sampling thousands of processes is slow: the delay is at least this many times as long as the last sample took.
const restFactor = 8;

/** Samples the processes of a command while it runs, with `tree.sample`. */
export class TreeWatch implements ResourceWatch {
  readonly #deps: TreeWatchDeps;
  readonly #peak = new PeakUsage();
  /** The limits that the kernel does not enforce for the whole tree. */
  readonly #sampledLimits: Limits;
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;
  #idleMs = 0;

  constructor(deps: TreeWatchDeps) {
    this.#deps = deps;
    this.#sampledLimits = withoutEnforced(deps.limits, deps.group);
  }

  start(onLimit: (reached: LimitReached) => void): void {
    this.#schedule(this.#enforces ? enforcingDelayMs : firstSampleMs, onLimit);
  }

  resources(): Resources {
    return this.#peak.toResources(this.#deps.endedCpuMs());
  }

  record(view: TreeView): void {
    this.#peak.record(view);
  }

  async explainExit(exit: ProcessExit, stderr: () => Promise<string>): Promise<LimitReached | null> {
    const { limits, group, endedCpuMs } = this.#deps;
    if (isUnlimited(limits)) return null;
    const { largestProcessBytes, busiestProcessMs } = this.#peak;
    const killed = this.#killedByCgroup();
    if (killed !== null) return killed;
    const kernel = group?.counts() ?? null;
    const usage = { cpuMs: endedCpuMs(), largestProcessBytes, busiestProcessMs };
    return explainExit({ exit, limits, ...usage, kernel, stderr: await stderr() });
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }

  release(): void {
    this.#deps.onRelease();
  }

  get #enforces(): boolean {
    const { maxProcesses, treeMemoryBytes } = this.#sampledLimits;
    return maxProcesses !== undefined || treeMemoryBytes !== undefined;
  }

  #schedule(delayMs: number, onLimit: (reached: LimitReached) => void): void {
    this.#timer = setTimeout(async () => {
      const elapsed = createStopwatch();
      await this.#sample(delayMs, onLimit);
      const next = Math.max(this.#nextDelayMs(delayMs), elapsed() * restFactor);
      if (!this.#isStopped) this.#schedule(next, onLimit);
    }, delayMs).unref();
  }

  async #sample(delayMs: number, onLimit: (reached: LimitReached) => void): Promise<void> {
    const { cpuMs, processes } = this.#peak;
    const view = await this.#deps.tree.sample().catch(() => null);
    if (this.#isStopped) return;
    const reached = view && this.#check(view);
    this.#idleMs =
      this.#peak.cpuMs === cpuMs && this.#peak.processes === processes ? this.#idleMs + delayMs : 0;
    if (!reached) return;
    this.#isStopped = true;
    onLimit(reached);
  }

  #check(view: TreeView): LimitReached | null {
    this.record(view);
    return this.#killedByCgroup() ?? exceeded(view, this.#sampledLimits);
  }

  #nextDelayMs(delayMs: number): number {
    const longest = Math.max(longestDelayMs, Math.min(this.#idleMs * idleFactor, longestIdleDelayMs));
    return this.#enforces ? enforcingDelayMs : Math.min(delayMs * 1.5, longest);
  }

  #killedByCgroup(): LimitReached | null {
    const { limits, group } = this.#deps;
    const kills = group?.counts().memoryKills ?? 0;
    if (limits.treeMemoryBytes === undefined || kills === 0) return null;
    // The peak was between two calls of `#sample`.
    this.#peak.raiseMemory(limits.treeMemoryBytes);
    return treeMemoryExceeded(limits.treeMemoryBytes, kills);
  }
}

function withoutEnforced({ maxProcesses, treeMemoryBytes }: Limits, group: Cgroup | null): Limits {
  return {
    maxProcesses: group?.enforces.processes ? undefined : maxProcesses,
    treeMemoryBytes: group?.enforces.memory ? undefined : treeMemoryBytes,
  };
}

function exceeded({ commandProcesses }: TreeView, limits: Limits): LimitReached | null {
  const { maxProcesses = Infinity, treeMemoryBytes = Infinity } = limits;
  const tasks = threadCount(commandProcesses);
  if (tasks > maxProcesses) {
    const detail = `It had ${tasks} processes and threads at one time, above the limit of ${maxProcesses}.`;
    return { cause: 'processes', detail };
  }
  // `residentBytes` counts shared pages several times; only if it is too high, the slow `proportionalBytes` is needed.
  if (residentBytes(commandProcesses) <= treeMemoryBytes) return null;
  const bytes = proportionalBytes(commandProcesses);
  if (bytes <= treeMemoryBytes) return null;
  const detail = `Its processes used ${formatLimit(bytes)} of memory together, above the limit of ${formatLimit(treeMemoryBytes)}.`;
  return { cause: 'oom', detail };
}
