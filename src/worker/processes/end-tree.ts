import type { StopOptions } from '../../contract/backend.ts';
import { pause } from '../../support/pause.ts';
import { createStopwatch } from '../../support/stopwatch.ts';
import { politeSignals } from './polite-signals.ts';
import type { ProcessTable, TreeRoot } from './process-table.ts';
import { sendSignal } from './send-signal.ts';

/** How a tree is ended. */
export interface EndTreeOptions {
  readonly table: ProcessTable;
  /** The first signal. */
  readonly signal: StopOptions['signal'];
  /** How long each polite signal may take before the next one follows. */
  readonly graceMs: number;
}

// After SIGKILL only a process inside an uninterruptible system call can stay; waiting longer does not help it.
const confirmMs = 5_000;

/**
 * Ends every process of a tree and returns the numbers of those that would not die (normally none).
 * 1. a polite signal to all members, 2. look again until none lives or the grace is over,
 * 3. SIGKILL, again and again, because a member may have forked meanwhile, 4. give up after a bound and say so.
 */
export async function endTree(root: TreeRoot, options: EndTreeOptions): Promise<readonly number[]> {
  const { table, graceMs } = options;
  for (const signal of politeSignals(options.signal)) {
    await askToEnd(root, table, signal);
    const left = await waitUntilGone(root, table, graceMs);
    if (left.length === 0 && !groupLives(root.pid)) return [];
  }
  return waitUntilGone(root, table, confirmMs, () => kill(root, table));
}

/** The numbers of the living members; null when they cannot be listed now, as without a free descriptor. */
export async function listMembers(root: TreeRoot, table: ProcessTable): Promise<readonly number[] | null> {
  try {
    return (await table.members(root)).map(({ pid }) => pid);
  } catch {
    return null;
  }
}

/** True while any process, be it a zombie, is in the process group that a root of this number leads. */
export function groupLives(pid: number): boolean {
  try {
    return process.kill(-pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}

async function askToEnd(root: TreeRoot, table: ProcessTable, signal: NodeJS.Signals): Promise<void> {
  const targets = (await listMembers(root, table)) ?? [-root.pid];
  for (const target of targets) sendSignal(target, signal);
  // A stopped process acts on nothing but SIGKILL until it is continued.
  for (const target of targets) sendSignal(target, 'SIGCONT');
}

// A group is signalled in one stroke, so that whoever forks faster than we look cannot slip away.
async function kill(root: TreeRoot, table: ProcessTable): Promise<void> {
  if (await isStillItself(root, table)) sendSignal(-root.pid, 'SIGKILL');
  for (const pid of (await listMembers(root, table)) ?? []) sendSignal(pid, 'SIGKILL');
}

async function isStillItself({ pid, startTime }: TreeRoot, table: ProcessTable): Promise<boolean> {
  const now = await table.startTime(pid).catch(() => null);
  return now === null || startTime === null || now === startTime;
}

async function waitUntilGone(
  root: TreeRoot,
  table: ProcessTable,
  limitMs: number,
  insist?: () => Promise<void>,
): Promise<readonly number[]> {
  const elapsed = createStopwatch();
  for (let delayMs = 1; ; delayMs = Math.min(delayMs * 2, 50)) {
    await insist?.();
    const left = (await listMembers(root, table)) ?? (groupLives(root.pid) ? [root.pid] : []);
    if (left.length === 0 || elapsed() >= limitMs) return left;
    await pause(Math.min(delayMs, Math.max(1, limitMs - elapsed())));
  }
}
