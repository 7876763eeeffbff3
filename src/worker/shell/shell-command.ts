import type { LimitReached } from '../limits/explain-exit.ts';
import { type ResourceWatch, TreeWatch } from '../limits/resource-watch.ts';
import type { ProcessExit } from '../processes/process-exit.ts';
import type { ProcessTable } from '../processes/process-table.ts';
import type { ProcessTree } from '../processes/process-tree.ts';
import type { ShellHost, ShellReply } from './shell-host.ts';
import { createShellTree } from './shell-tree.ts';

/** The command whose processes `createCommandTree` finds. */
export interface RunningCommand {
  readonly table: ProcessTable;
  /** Start of the command on the clock of `table`. */
  readonly since: number;
  readonly reply: Promise<ShellReply>;
}

/** Creates the process tree of a command that runs in the shell of `host`. */
export function createCommandTree(host: ShellHost, { table, since, reply }: RunningCommand): ProcessTree {
  let [isOver, leftNothing] = [false, false];
  void reply.then((ended) => {
    isOver = true;
    leftNothing = ended.kind === 'done' && !ended.done.hasJobs;
  });
  return createShellTree({
    table,
    session: host.started.tree,
    since,
    leftNothing: () => leftNothing,
    isOver: () => isOver,
    killShell: () => host.killShell(),
  });
}

/**
 * Creates the watch of one command. Limits apply to the whole session, so its watch `whole` explains an exit; `onStart` gets
 * the callback of the running command, which a limit of the session stops.
 */
export function createCommandWatch(
  tree: ProcessTree,
  whole: ResourceWatch,
  onStart: (onLimit: (reached: LimitReached) => void) => void,
): ResourceWatch {
  const own = new TreeWatch({ limits: {}, tree, group: null, endedCpuMs: () => null, onRelease() {} });
  return {
    start: (onLimit) => {
      onStart(onLimit);
      own.start(onLimit);
    },
    resources: () => own.resources(),
    record: (view) => own.record(view),
    explainExit: (exit, stderr) => whole.explainExit(exit, stderr),
    stop: () => own.stop(),
    release: () => own.release(),
  };
}

/** The exit of a command in a persistent shell; 126 if its outputs were `lost` and it did not run. */
export function toShellExit(reply: ShellReply): ProcessExit {
  if (reply.kind === 'exited') return reply.exit;
  const { status } = reply.done;
  return { code: status === 'lost' ? 126 : status, signal: null };
}
