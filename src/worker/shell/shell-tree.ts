import type { StopOptions } from '../../contract/backend.ts';
import { pause } from '../../support/pause.ts';
import { createStopwatch } from '../../support/stopwatch.ts';
import type { ProcessInfo, ProcessTable } from '../processes/process-table.ts';
import type { ProcessTree } from '../processes/process-tree.ts';
import { isLoop } from './shell-script.ts';

/** What the tree of one command in a persistent shell is found by. */
export interface ShellTreeMeans {
  readonly table: ProcessTable;
  /** Everything of the session. */
  readonly session: Pick<ProcessTree, 'scan' | 'pid'>;
  /** When the command began, as the table counts. */
  readonly since: number;
  /** True once the command has ended with nothing in the background. */
  leftNothing(): boolean;
  /** True once the command has ended: its shell and what that runs are not its own any more. */
  isOver(): boolean;
  /** Ends the shell by force; resolves when that was heard. */
  endShell(): Promise<void>;
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
    Promise.all(found.map(async ({ pid }) => ({ pid, command: toName(await table.describe(pid)) })));
  const look = () => lookAround(means);
  const view = async () => {
    const { shell, commandProcesses } = await look();
    return { commandProcesses, ownProcesses: shell ? [shell] : [] };
  };

  return {
    pid: means.session.pid,
    finished: new Promise(() => {}),
    certainlyEmpty: means.leftNothing,
    release() {},
    scan: view,
    sample: view,
    describe: async () => toPeople((await look()).commandProcesses),
    async end(options) {
      const { shell } = await look();
      if (means.isOver()) return [];
      send(shell, 'SIGSTOP');
      const left = await endAll(look, options);
      await means.endShell();
      return toPeople(left);
    },
  };
}

// Nobody wants to read the loop in the place of `(sleep 1; echo) &`.
function toName(commandLine: string): string {
  return isLoop(commandLine) ? 'a subshell of the command' : commandLine;
}

/** A session's shell and its parent. */
export interface ShellPair {
  readonly host: ProcessInfo | undefined;
  readonly shell: ProcessInfo | undefined;
}

/** Finds them among all of a session. */
export async function findShell({
  table,
  session,
}: Pick<ShellTreeMeans, 'table' | 'session'>): Promise<
  ShellPair & { readonly others: readonly ProcessInfo[] }
> {
  const all = [...(await session.scan()).commandProcesses].sort(
    (one, other) => table.startMoment(one) - table.startMoment(other) || one.pid - other.pid,
  );
  // The first of all is the shell's parent, and never ends before the session does.
  const [host, ...inside] = all;
  const shell = inside.find(({ parent }) => parent === host?.pid);
  return { host, shell, others: inside.filter((process) => process !== shell) };
}

/** Ends a shell by force; its parent can tell of it even if a command has stopped the two. */
export function endShell({ host, shell }: ShellPair): void {
  send(shell, 'SIGKILL');
  send(host, 'SIGCONT');
}

interface Surroundings extends ShellPair {
  readonly commandProcesses: readonly ProcessInfo[];
}

async function lookAround(means: ShellTreeMeans): Promise<Surroundings> {
  const { host, shell, others } = await findShell(means);
  const isOld = (process: ProcessInfo) => means.table.startMoment(process) < means.since;
  const old = withDescendants(others.filter(isOld), others);
  return { host, shell, commandProcesses: others.filter(({ pid }) => !old.has(pid)) };
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
    const { commandProcesses } = await look();
    for (const process of commandProcesses) send(process, one);
    // A stopped process acts on nothing but SIGKILL until it is continued.
    for (const process of commandProcesses) send(process, 'SIGCONT');
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
    const { commandProcesses } = await look();
    if (commandProcesses.length === 0 || elapsed() >= limitMs) return commandProcesses;
    for (const process of commandProcesses) insist?.(process);
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
