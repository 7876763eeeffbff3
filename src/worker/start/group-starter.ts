import type { JobSpec } from '../../contract/job.ts';
import { createStopwatch } from '../../support/timing.ts';
import type { AppliedLimits } from '../limits/limit-enforcer.ts';
import { type Environment, forPipes, forTerminal, toCommandEnvironment } from '../machine/environment.ts';
import { keepGaps } from '../processes/kept-daemons.ts';
import { createFoundTree } from '../processes/process-tree.ts';
import { filesShown, toEnforcement } from '../supervision/supervisor.ts';
import { startAtTerminal } from './start-at-terminal.ts';
import { checkStart } from './start-failures.ts';
import { type StartedProcess, startProcess } from './start-process.ts';
import type { StartDeps, Started, Starter, StartOptions } from './starter.ts';

/** Makes a starter that runs each command in its own process group and finds its processes with the `ProcessTable`. */
export function createGroupStarter(deps: StartDeps): Starter {
  return {
    level: 'group',
    waitsForLaunchMessage: false,
    exec: 'off',
    hidesOwnFiles: false,
    gaps: toGaps(deps),
    start: (spec, options = {}) => startInGroup(spec, options, deps),
    async close() {},
  };
}

async function startInGroup(spec: JobSpec, { baseEnv }: StartOptions, deps: StartDeps): Promise<Started> {
  const elapsed = createStopwatch();
  const applied = deps.limitEnforcer.apply({
    id: spec.id,
    asked: spec.limits,
    ownProcesses: null,
    cannotRaiseLimits: false,
    entry: 'shell',
  });
  const process = await startLimited(spec, applied, { ...deps, env: baseEnv ?? deps.env }).catch(
    (error: unknown) => {
      applied.discard();
      throw error;
    },
  );
  const startTime = await deps.table.startTime(process.pid).catch(() => null);
  const root = { pid: process.pid, startTime, marker: `NACRE_COMMAND_ID=${spec.id}`, elapsed };
  const tree = createFoundTree(root, deps.table);
  const gaps = [...toGaps(deps), ...applied.gaps];
  return {
    process,
    tree,
    enforcement: toEnforcement('group', noIsolation, { setuid: true, exec: 'off', gaps }),
    watch: applied.watch({ tree, endedCpuMs: () => null }),
  };
}

async function startLimited(
  spec: JobSpec,
  { prelude }: AppliedLimits,
  deps: StartDeps,
): Promise<StartedProcess> {
  const program = spec.command.kind === 'argv' ? spec.command.argv[0] : undefined;
  // A shell that runs `exec PROGRAM`, or a terminal, would report a missing program in its own words.
  if (spec.terminal || (prelude !== '' && program !== undefined)) checkStart(program, spec.cwd, deps.path);
  const plan = {
    prelude,
    command: spec.command,
    cwd: spec.cwd,
    env: toEnvironment(spec, deps),
    bashPath: deps.bashPath,
    scriptPath: deps.scriptPath(spec.id),
  };
  if (spec.terminal) return startAtTerminal(await deps.loadPty(), plan, spec.terminal);
  return startProcess({ ...plan, fifos: await deps.fifos.take(spec.stdin === 'open' ? 3 : 2) });
}

function toEnvironment({ id, env, terminal }: JobSpec, deps: StartDeps): Environment {
  const marker = { ...deps.instance, NACRE_COMMAND_ID: id };
  return toCommandEnvironment(terminal ? forTerminal(deps.env) : forPipes(deps.env), env, marker);
}

function toGaps({ table, keep, execEnforcement }: StartDeps): readonly string[] {
  return [...table.gaps, ...groupGaps, ...keepGaps(keep), ...execEnforcement.gaps];
}

const groupGaps = [
  filesShown,
  "A command can inspect, change and end other processes of its user, nacre's server among them.",
  // Node reports a real-time signal neither as a code nor as a signal; at the other levels the keeper's bash does.
  ...(process.platform === 'linux'
    ? ['A command whose own process is killed by a real-time signal is reported with exit code 0.']
    : []),
];

const noIsolation = {
  sandbox: 'off',
  network: 'on',
  networkAllow: [],
  processes: 'host',
  workspace: [],
} as const;
