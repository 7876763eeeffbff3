import type { StopOptions } from '../../contract/backend.ts';
import { pause } from '../../support/pause.ts';
import { createStopwatch } from '../../support/stopwatch.ts';
import type { ProcessInfo, ProcessTable } from '../process-table.ts';
import type { ProcessTree } from '../process-tree.ts';

/** What the tree of one command in a persistent shell is found by. */
export interface ShellTreeMeans {
  readonly table: ProcessTable;
  /** Everything of the session. */
  readonly session: Pick<ProcessTree, 'look' | 'pid'>;
  /** When the command began, as the table counts. */
  readonly since: number;
  /** True once the command has ended with nothing in the background. */
  leftNothing(): boolean;
}

const confirmMs = 5_000;

/**
 * The processes of one command in a persistent shell: what was started since it began, by nobody who was there before.
 * To end them is to stop the shell first, so that no further step of the command is begun, and to end it last; the
 * session's other processes live on.
 */
export function createShellTree(means: ShellTreeMeans): ProcessTree {
  const { table } = means;
  const toPeople = (found: readonly ProcessInfo[]) =>
    Promise.all(found.map(async ({ pid }) => ({ pid, command: await table.describe(pid) })));
  const look = () => lookAround(means);

  return {
    pid: means.session.pid,
    finished: new Promise(() => {}),
    certainlyEmpty: means.leftNothing,
    release() {},
    async look() {
      const { shell, guests } = await look();
      return { guests, hosts: shell ? [shell] : [] };
    },
    describe: async () => toPeople((await look()).guests),
    async end(options) {
      const { shell } = await look();
      send(shell, 'SIGSTOP');
      const left = await endAll(look, options);
      send(shell, 'SIGKILL');
      return toPeople(left);
    },
  };
}

interface Surroundings {
  readonly shell: ProcessInfo | undefined;
  readonly guests: readonly ProcessInfo[];
}

async function lookAround({ table, session, since }: ShellTreeMeans): Promise<Surroundings> {
  const all = [...(await session.look()).guests].sort(
    (one, other) => table.startMoment(one) - table.startMoment(other) || one.pid - other.pid,
  );
  // The first of all is the shell's parent, and never ends before the session does.
  const [host, ...inside] = all;
  const shell = inside.find(({ parent }) => parent === host?.pid);
  const others = inside.filter((process) => process !== shell);
  const isOld = (process: ProcessInfo) => table.startMoment(process) < since;
  const old = withDescendants(others.filter(isOld), others);
  return { shell, guests: others.filter(({ pid }) => !old.has(pid)) };
}

function withDescendants(
  roots: readonly ProcessInfo[],
  processes: readonly ProcessInfo[],
): ReadonlySet<number> {
  const found = new Set(roots.map(({ pid }) => pid));
  for (let size = -1; size !== found.size; ) {
    size = found.size;
    for (const { pid, parent } of processes) if (found.has(parent)) found.add(pid);
  }
  return found;
}

// SIGINT first, as a terminal would send it, then SIGTERM, then by force.
async function endAll(
  look: () => Promise<Surroundings>,
  { signal, graceMs }: StopOptions,
): Promise<readonly ProcessInfo[]> {
  const polite: readonly NodeJS.Signals[] = signal === 'SIGKILL' ? [] : ['SIGINT', 'SIGTERM'];
  for (const one of polite) {
    const { guests } = await look();
    for (const process of guests) send(process, one);
    // A stopped process acts on nothing but SIGKILL until it is continued.
    for (const process of guests) send(process, 'SIGCONT');
    if ((await untilGone(look, graceMs / polite.length)).length === 0) return [];
  }
  return untilGone(look, confirmMs, (process) => send(process, 'SIGKILL'));
}

async function untilGone(
  look: () => Promise<Surroundings>,
  limitMs: number,
  insist?: (process: ProcessInfo) => void,
): Promise<readonly ProcessInfo[]> {
  const elapsed = createStopwatch();
  for (let delayMs = 1; ; delayMs = Math.min(delayMs * 2, 50)) {
    const { guests } = await look();
    if (guests.length === 0 || elapsed() >= limitMs) return guests;
    for (const process of guests) insist?.(process);
    await pause(delayMs);
  }
}

function send(to: ProcessInfo | undefined, signal: NodeJS.Signals): void {
  try {
    if (to) process.kill(to.pid, signal);
  } catch {
    // It has ended by itself.
  }
}
