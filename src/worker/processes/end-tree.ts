import type { StopOptions } from '../../contract/backend.ts';
import { createStopwatch, sleep } from '../../support/timing.ts';
import { politeSignals, sendSignal } from './process-exit.ts';
import type { ProcessTable, TreeRoot } from './process-table.ts';

/** Options of `endTree`. */
export interface EndTreeOptions {
  readonly table: ProcessTable;
  readonly signal: StopOptions['signal'];
  /** How long to wait after each of the `politeSignals`. */
  readonly graceMs: number;
}

// After SIGKILL only a process in an uninterruptible system call survives; waiting longer does not help.
const confirmMs = 5_000;

/**
 * Ends every process of a tree and returns the pids that would not die (normally none).
 * 1. send a polite signal to all members,
 * 2. list the members until none is left or `graceMs` has elapsed,
 * 3. send SIGKILL repeatedly, because a member may fork meanwhile,
 * 4. give up after `confirmMs` and return what is left.
 */
export async function endTree(root: TreeRoot, options: EndTreeOptions): Promise<readonly number[]> {
  const { table, graceMs } = options;
  for (const signal of politeSignals(options.signal)) {
    await signalMembers(root, table, signal);
    const left = await waitUntilGone(root, table, graceMs);
    if (left.length === 0 && !groupLives(root.pid)) return [];
  }
  return waitUntilGone(root, table, confirmMs, () => kill(root, table));
}

/** The pids of the living members; null if they cannot be listed now, for example because of EMFILE. */
export async function listMembers(root: TreeRoot, table: ProcessTable): Promise<readonly number[] | null> {
  try {
    return (await table.members(root)).map(({ pid }) => pid);
  } catch {
    return null;
  }
}

/** True while the process group `pid` has any process, zombies included. */
export function groupLives(pid: number): boolean {
  try {
    return process.kill(-pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}

async function signalMembers(root: TreeRoot, table: ProcessTable, signal: NodeJS.Signals): Promise<void> {
  const targets = (await listMembers(root, table)) ?? [-root.pid];
  for (const target of targets) sendSignal(target, signal);
  // A stopped process handles no signal except SIGKILL until it gets SIGCONT.
  for (const target of targets) sendSignal(target, 'SIGCONT');
}

// SIGKILL reaches the whole process group in one call, so a process that forks faster than we list cannot escape.
async function kill(root: TreeRoot, table: ProcessTable): Promise<void> {
  if (await isSameProcess(root, table)) sendSignal(-root.pid, 'SIGKILL');
  for (const pid of (await listMembers(root, table)) ?? []) sendSignal(pid, 'SIGKILL');
}

// False once the kernel has reused `root.pid` for another process.
async function isSameProcess({ pid, startTime }: TreeRoot, table: ProcessTable): Promise<boolean> {
  const now = await table.startTime(pid).catch(() => null);
  return now === null || startTime === null || now === startTime;
}

async function waitUntilGone(
  root: TreeRoot,
  table: ProcessTable,
  limitMs: number,
  beforeCheck?: () => Promise<void>,
): Promise<readonly number[]> {
  const elapsed = createStopwatch();
  for (let delayMs = 1; ; delayMs = Math.min(delayMs * 2, 50)) {
    await beforeCheck?.();
    const left = (await listMembers(root, table)) ?? (groupLives(root.pid) ? [root.pid] : []);
    if (left.length === 0 || elapsed() >= limitMs) return left;
    await sleep(Math.min(delayMs, Math.max(1, limitMs - elapsed())));
  }
}
