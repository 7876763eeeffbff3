import { setImmediate as nextTurn } from 'node:timers/promises';
import type { JobEnd } from '../../contract/job.ts';
import { pause } from '../../support/pause.ts';
import { createStopwatch } from '../../support/stopwatch.ts';
import { within } from '../../support/within.ts';
import { politeSignals } from '../processes/polite-signals.ts';
import type { ProcessInfo, ProcessTable, TreeRoot } from '../processes/process-table.ts';
import type { ProcessTree, TreeView } from '../processes/process-tree.ts';
import { sendSignal } from '../processes/send-signal.ts';
import type { Keeper } from './follow-keeper.ts';

/** How a namespace is built above the command's shell. */
export interface Roof {
  /** How many processes of ours live in it beside the command's: init and keeper, or a keeper that is init. */
  readonly residents: number;
}

const confirmMs = 5_000;
// The keeper tells how the command's shell ended within a moment of it.
const lastWordMs = 200;

/**
 * The tree of a command in a pid namespace. Its first process, the roof, is a child of the supervisor; when the roof
 * dies, the kernel ends everything below it before the roof is gone. So the end is certain, whatever a process did to
 * hide, and one look at the roof confirms it.
 */
export function createNamespaceTree(keeper: Keeper, roof: Roof, table: ProcessTable): ProcessTree {
  const elapsed = createStopwatch();
  let left: number | null = null;
  void keeper.ended.then(({ processes }) => {
    left = processes === null ? 0 : processes - roof.residents;
  });
  // Looked at once the command has its order: most have ended before anybody asks.
  const identity = nextTurn().then(() => table.startTime(keeper.pid).catch(() => null));
  const toRoot = async () => ({ pid: keeper.pid, startTime: await identity, marker: null, elapsed });
  const look = async () => {
    const root = await toRoot();
    return toView(root, roof, await table.members(root).catch(() => []));
  };
  // Whoever loses its parents in a namespace gets the roof as one.
  const glance = async () => {
    const root = await toRoot();
    return toView(root, roof, await table.descendants(root).catch(() => []));
  };
  // To go through all processes of the machine takes long where many commands are ended at once, and only tells more
  // where the roof was not seen although its supervisor lives.
  const lookBelow = async () => {
    const view = await glance();
    if (view.top !== undefined) return view;
    const lives = (await table.startTime(keeper.pid).catch(() => null)) !== null;
    return lives ? look() : view;
  };

  return {
    pid: keeper.pid,
    finished: keeper.gone,
    certainlyEmpty: () => left === 0,
    look,
    glance,
    async describe() {
      const { guests } = await look();
      return Promise.all(guests.map(async ({ pid }) => ({ pid, command: await table.describe(pid) })));
    },
    async end(options) {
      for (const signal of politeSignals(options.signal)) {
        if (!(await askToEnd(lookBelow, signal, options.graceMs))) continue;
        await within(keeper.ended, lastWordMs);
        break;
      }
      const { top, guests } = await lookBelow();
      // The supervisor first: unshare would report the death of its child as a failure of its own.
      keeper.end();
      sendSignal(top?.pid, 'SIGKILL');
      if (top === undefined || (await isGone(top, table))) return [];
      return describeSurvivors(guests, table);
    },
    // A command can write to its keeper's descriptors and tell an end that never was: nobody is taken at his word.
    release: keeper.end,
  };
}

interface View extends TreeView {
  /** The first process of the namespace. */
  readonly top: ProcessInfo | undefined;
}

function toView({ pid }: TreeRoot, roof: Roof, family: readonly ProcessInfo[]): View {
  const top = family.find((process) => process.parent === pid);
  // The keeper is the first that the roof has started; what is orphaned later becomes its brother.
  const inside = family.filter((process) => process.pid !== pid && process !== top).sort(byAge);
  const hosts = [...(top ? [top] : []), ...inside.slice(0, roof.residents - 1)];
  return { top, hosts, guests: inside.slice(roof.residents - 1) };
}

function byAge(one: ProcessInfo, other: ProcessInfo): number {
  return Number(one.startTime) - Number(other.startTime) || one.pid - other.pid;
}

/** True when all have followed. One look does not tell: who gets another parent meanwhile is not in either list. */
async function askToEnd(
  look: () => Promise<View>,
  signal: NodeJS.Signals,
  graceMs: number,
): Promise<boolean> {
  const { guests } = await look();
  for (const { pid } of guests) sendSignal(pid, signal);
  // A stopped process acts on nothing but SIGKILL until it is continued.
  for (const { pid } of guests) sendSignal(pid, 'SIGCONT');
  const elapsed = createStopwatch();
  for (let delayMs = 1; elapsed() < graceMs; delayMs = Math.min(delayMs * 2, 50)) {
    if ((await isEmpty(look)) && (await isEmpty(look))) return true;
    await pause(Math.min(delayMs, Math.max(1, graceMs - elapsed())));
  }
  return false;
}

async function isEmpty(look: () => Promise<View>): Promise<boolean> {
  return (await look()).guests.length === 0;
}

async function isGone(process: ProcessInfo, table: ProcessTable): Promise<boolean> {
  const elapsed = createStopwatch();
  for (let delayMs = 1; elapsed() < confirmMs; delayMs = Math.min(delayMs * 2, 50)) {
    if ((await table.startTime(process.pid).catch(() => null)) !== process.startTime) return true;
    await pause(delayMs);
  }
  return false;
}

function describeSurvivors(
  guests: readonly ProcessInfo[],
  table: ProcessTable,
): Promise<JobEnd['survivors']> {
  return Promise.all(guests.map(async ({ pid }) => ({ pid, command: await table.describe(pid) })));
}
