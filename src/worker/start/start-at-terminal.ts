import { statSync } from 'node:fs';
import { NacreError } from '../../contract/failure.ts';
import type { TerminalSize } from '../../contract/job.ts';
import { createDeferred } from '../../support/timing.ts';
import { listInherited } from '../io/inherited-descriptors.ts';
import { type ProcessExit, toExit } from '../processes/process-exit.ts';
import type { ForkServer } from '../supervision/fork-server.ts';
import {
  ignoreTtySignals,
  onChildEnd,
  restoreTtySignals,
  untilParentSleeps,
} from '../supervision/keeper-script.ts';
import { type PtyBinary, ptyHelper } from '../terminal/load-pty.ts';
import { toTerminal } from '../terminal/open-terminal.ts';
import { forkAtTerminal } from './fork-process.ts';
import {
  bashFlags,
  maxArgumentBytes,
  type ProcessPlan,
  type StartedProcess,
  withPrelude,
} from './start-process.ts';

// When the session leader exits, the kernel discards output that is still in the terminal. So a shell leads the session,
// the command is its child, and the shell stays 0.1 s longer: `read -t` on a new, unused pty waits without a process.
// Finally the shell ends as the command did: with its exit code, which `jobs` printed, or by the same signal.
const leaderScript = [
  ignoreTtySignals,
  `run() { ${restoreTtySignals}; ${untilParentSleeps}; exec -- "$@"; }`,
  onChildEnd('job=$(jobs)'),
  'run "$@" <&0 &',
  'wait $! 2>/dev/null',
  'status=$?',
  'read -r -t 0.1 </dev/ptmx',
  'if (( status > 128 )) && [[ $job && $job != *" $status "* ]]',
  `then ulimit -c 0; ${restoreTtySignals}; kill -$((status - 128)) $$; fi`,
  'exit "$status"',
].join('\n');
const closeInherited = () =>
  listInherited()
    .map((fd) => `exec ${fd}<&-; `)
    .join('');

/** Starts a command in the session of a new terminal: through the fork server, which reaps its orphans, or by itself. */
export async function startAtTerminal(
  pty: PtyBinary,
  requested: Omit<ProcessPlan, 'fifos'>,
  size: TerminalSize,
  forkServer: ForkServer,
): Promise<StartedProcess> {
  const plan = withPrelude(requested);
  const argv = [plan.bashPath, ...bashFlags, leaderScript, 'bash', ...toArguments(plan)];
  const forked = await forkAtTerminal(forkServer, { argv, env: plan.env, cwd: plan.cwd }, pty, size);
  return forked ?? spawnAtTerminal(pty, plan, size);
}

function spawnAtTerminal(
  pty: PtyBinary,
  plan: Omit<ProcessPlan, 'fifos'>,
  { cols, rows }: TerminalSize,
): StartedProcess {
  const args = [...bashFlags, closeInherited() + leaderScript, 'bash', ...toArguments(plan)];
  const env = Object.entries(plan.env).map(([name, value]) => `${name}=${value}`);
  const exited = createDeferred<ProcessExit>();
  const onExit = (code: number, signal: number) =>
    exited.resolve(signal === 0 ? { code, signal: null } : toExit(128 + signal));
  const sameUser = -1;
  const started = pty.fork(
    plan.bashPath,
    args,
    env,
    plan.cwd,
    cols,
    rows,
    sameUser,
    sameUser,
    true,
    ptyHelper(),
    onExit,
  );
  const { fd, pid } = started;
  const terminal = toTerminal(pty, fd, statSync(started.pty));
  return { pid, exited: exited.promise, stdout: fd, stderr: fd, stdin: null, terminal };
}

/** The words that run a command at a terminal: the program itself, or bash with the script as an argument. */
export function toArguments({
  command,
  bashPath,
}: Omit<ProcessPlan, 'fifos'>): readonly [string, ...string[]] {
  if (command.kind === 'argv') return command.argv;
  if (Buffer.byteLength(command.script) <= maxArgumentBytes)
    return [bashPath, ...bashFlags, '--', command.script];
  throw new NacreError(
    'invalid_request',
    `The script is too long: at a terminal it may have at most ${maxArgumentBytes} bytes here.`,
    { hint: 'Put it into a file and run that.' },
  );
}
