import type { StopOptions } from '../../contract/backend.ts';
import { createStopwatch, sleep } from '../../support/timing.ts';
import type { ProcessInfo, ProcessTable } from '../processes/process-table.ts';
import type { ProcessTree, TreeView } from '../processes/process-tree.ts';
import { abortCommand } from './abort-command.ts';
import { isLoopCommandLine } from './shell-script.ts';

/** Dependencies of `createShellTree`: they identify the processes of one command. */
export interface ShellTreeDeps {
  readonly table: ProcessTable;
  readonly session: Pick<ProcessTree, 'scan' | 'sample' | 'pid'>;
  /** Start of the command on the clock of `table`. */
  readonly since: number;
  leftNothing(): boolean;
  /** True once the command has ended: the shell then no longer belongs to it. */
  isOver(): boolean;
  killShell(): Promise<void>;
}

const confirmMs = 5_000;

/**
 * The processes of one command in a persistent shell: those started since the command began, except by older background
 * processes. `end` lets the shell abort the command, which keeps its state. If that fails, it sends SIGSTOP to the shell, so that
 * the command cannot start its next step, and kills the shell last; older processes of the session survive.
 */
export function createShellTree(deps: ShellTreeDeps): ProcessTree {
  const { table } = deps;
  const describeAll = (found: readonly ProcessInfo[]) =>
    Promise.all(found.map(async ({ pid }) => ({ pid, command: toName(await table.describe(pid)) })));
  const find = () => findCommand(deps);
  const findPrograms = async () => (await findCommandQuickly(deps)).commandProcesses;
  const view = async () => {
    const { shell, commandProcesses } = await find();
    return { commandProcesses, ownProcesses: shell ? [shell] : [] };
  };

  return {
    pid: deps.session.pid,
    finished: new Promise(() => {}),
    certainlyEmpty: deps.leftNothing,
    release() {},
    scan: view,
    sample: view,
    describe: async () => describeAll((await find()).commandProcesses),
    async end(options) {
      const { shell } = await find();
      if (deps.isOver()) return [];
      if (
        options.signal !== 'SIGKILL' &&
        shell &&
        (await abortCommand(shell.pid, { ...deps, find: findPrograms }, options))
      )
        return [];
      send(shell, 'SIGSTOP');
      const left = await endAll(find, options);
      await deps.killShell();
      return describeAll(left);
    },
  };
}

// A forked subshell such as `(sleep 1; echo) &` has the loop as its command line, which means nothing to a user.
function toName(commandLine: string): string {
  return isLoopCommandLine(commandLine) ? 'a subshell of the command' : commandLine;
}

/** A session's host process and the shell below it. */
export interface ShellPair {
  readonly host: ProcessInfo | undefined;
  readonly shell: ProcessInfo | undefined;
}

/** Finds the host process and the shell among all processes of a session. */
export async function findShell({
  table,
  session,
}: Pick<ShellTreeDeps, 'table' | 'session'>): Promise<ShellAndOthers> {
  return selectShell(table, await session.scan());
}

interface ShellAndOthers extends ShellPair {
  readonly others: readonly ProcessInfo[];
}

function selectShell(table: ProcessTable, { commandProcesses }: TreeView): ShellAndOthers {
  const all = [...commandProcesses].sort(
    (one, other) => table.startMoment(one) - table.startMoment(other) || one.pid - other.pid,
  );
  // The host process has the lowest `startMoment`: it lives as long as the session.
  const [host, ...inside] = all;
  const shell = inside.find(({ parent }) => parent === host?.pid);
  return { host, shell, others: inside.filter((process) => process !== shell) };
}

/** Kills a shell, and continues its host with SIGCONT: a command may have stopped both. */
export function killShellProcess({ host, shell }: ShellPair): void {
  send(shell, 'SIGKILL');
  send(host, 'SIGCONT');
}

/** The processes of one command, and those of its session above it. */
export interface CommandProcesses extends ShellPair {
  readonly commandProcesses: readonly ProcessInfo[];
}

async function findCommand(deps: ShellTreeDeps): Promise<CommandProcesses> {
  return selectCommand(deps, await findShell(deps));
}

// `sample` may miss a process that gets another parent at the same moment, so `scan` confirms that there is none.
async function findCommandQuickly(deps: ShellTreeDeps): Promise<CommandProcesses> {
  const found = selectCommand(deps, selectShell(deps.table, await deps.session.sample()));
  return found.commandProcesses.length === 0 && deps.isOver() ? findCommand(deps) : found;
}

function selectCommand(deps: ShellTreeDeps, { host, shell, others }: ShellAndOthers): CommandProcesses {
  const isOld = (process: ProcessInfo) => deps.table.startMoment(process) < deps.since;
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

// SIGINT first, as Ctrl-C would send it, then SIGTERM, then SIGKILL.
async function endAll(
  find: () => Promise<CommandProcesses>,
  { signal, graceMs }: StopOptions,
): Promise<readonly ProcessInfo[]> {
  const polite: readonly NodeJS.Signals[] = signal === 'SIGKILL' ? [] : ['SIGINT', 'SIGTERM'];
  for (const one of polite) {
    const { commandProcesses } = await find();
    for (const process of commandProcesses) send(process, one);
    // A stopped process handles SIGINT and SIGTERM only after SIGCONT.
    for (const process of commandProcesses) send(process, 'SIGCONT');
    if ((await untilGone(find, graceMs / polite.length)).length === 0) return [];
  }
  return untilGone(find, confirmMs, (process) => send(process, 'SIGKILL'));
}

/** Polls until no process of the command is left, or `limitMs` has elapsed; returns those that are left. */
async function untilGone(
  find: () => Promise<CommandProcesses>,
  limitMs: number,
  onLeft?: (process: ProcessInfo) => void,
): Promise<readonly ProcessInfo[]> {
  const elapsed = createStopwatch();
  for (let delayMs = 1; ; delayMs = Math.min(delayMs * 2, 50)) {
    const { commandProcesses } = await find();
    if (commandProcesses.length === 0 || elapsed() >= limitMs) return commandProcesses;
    for (const process of commandProcesses) onLeft?.(process);
    await sleep(delayMs);
  }
}

function send(to: ProcessInfo | undefined, signal: NodeJS.Signals): void {
  try {
    if (to) process.kill(to.pid, signal);
  } catch {
    // ESRCH: it has exited.
  }
}
