import type { JobSpec } from '../../contract/job.ts';
import { createStopwatch } from '../../support/stopwatch.ts';
import type { ExecChoice } from '../exec/choose-exec-guard.ts';
import type { FifoPool } from '../io/fifo-pool.ts';
import type { Ward, Warden } from '../limits/create-warden.ts';
import { type Environment, forPipes, forTerminal, toCommandEnvironment } from '../machine/environment.ts';
import { keepGaps } from '../processes/kept-daemons.ts';
import type { ProcessTable } from '../processes/process-table.ts';
import { createFoundTree } from '../processes/process-tree.ts';
import { filesShown, toEnforcement } from '../supervision/supervisor.ts';
import type { PtyBinary } from '../terminal/load-pty.ts';
import { startAtTerminal } from './start-at-terminal.ts';
import { checkStart } from './start-failures.ts';
import { type StartedProcess, startProcess } from './start-process.ts';
import type { Starter } from './starter.ts';

/** What commands are started from, whichever way. */
export interface StartMeans {
  readonly bashPath: string;
  readonly fifos: FifoPool;
  readonly table: ProcessTable;
  readonly env: Environment;
  /** The name of this server, which everything that it starts carries. */
  readonly instance: Environment;
  /** The PATH that commands get. */
  readonly path: string;
  readonly warden: Warden;
  /** Names of daemons that may stay. */
  readonly keep: readonly string[];
  /** What the kernel holds commands to, and where it does not. */
  readonly execChoice: ExecChoice;
  /** What makes terminals; rejects where it is not installed. */
  loadPty(): Promise<PtyBinary>;
  /** Where a long script may be put for a moment. */
  scriptPath(id: string): string;
}

/** Starts each command in a process group of its own; its processes are found by looking for them. */
export function createGroupStarter(means: StartMeans): Starter {
  const { table, fifos, bashPath } = means;
  const gaps = [...table.gaps, ...openGaps, ...keepGaps(means.keep), ...means.execChoice.gaps];
  return {
    level: 'group',
    waits: false,
    exec: 'off',
    hidesOwnFiles: false,
    gaps,
    async start(spec, { base = means.env } = {}) {
      const marker = { ...means.instance, NACRE_COMMAND_ID: spec.id };
      const elapsed = createStopwatch();
      const ward = means.warden.take({
        id: spec.id,
        asked: spec.limits,
        residents: null,
        isPowerless: false,
        enters: 'alone',
      });
      const around = spec.terminal ? forTerminal(base) : forPipes(base);
      const plan = {
        prelude: ward.prelude,
        command: spec.command,
        cwd: spec.cwd,
        env: toCommandEnvironment(around, spec.env, marker),
        bashPath,
        scriptPath: means.scriptPath(spec.id),
      };
      const process = await startBound(spec, ward, means.path, async () => {
        if (spec.terminal) return startAtTerminal(await means.loadPty(), plan, spec.terminal);
        return startProcess({ ...plan, fifos: await fifos.take(spec.stdin === 'open' ? 3 : 2) });
      });
      const startTime = await table.startTime(process.pid).catch(() => null);
      const root = { pid: process.pid, startTime, marker: `NACRE_COMMAND_ID=${spec.id}`, elapsed };
      const tree = createFoundTree(root, table);
      const all = { setuid: true, exec: 'off', gaps: [...gaps, ...ward.gaps] } as const;
      return {
        process,
        tree,
        enforcement: toEnforcement('group', noIsolation, all),
        watch: ward.watch({ tree, endedCpuMs: () => null }),
      };
    },
    async close() {},
  };
}

async function startBound(spec: JobSpec, ward: Ward, path: string, begin: () => Promise<StartedProcess>) {
  const program = spec.command.kind === 'argv' ? spec.command.argv[0] : undefined;
  try {
    // A shell that becomes the program would tell of its absence in its own words, and so does a terminal.
    if (spec.terminal || (ward.prelude !== '' && program !== undefined)) checkStart(program, spec.cwd, path);
    return await begin();
  } catch (error) {
    ward.drop();
    throw error;
  }
}

const openGaps = [
  filesShown,
  "A command can look into, change and end other processes of its user, nacre's server among them.",
  // Node tells neither the number nor that there was a signal; above a supervised command a shell does.
  ...(process.platform === 'linux'
    ? ['A command whose own process is ended by a real-time signal seems to have ended with 0.']
    : []),
];

const noIsolation = {
  sandbox: 'off',
  network: 'on',
  networkAllow: [],
  processes: 'host',
  workspace: [],
} as const;
