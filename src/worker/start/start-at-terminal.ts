import { statSync } from 'node:fs';
import { NacreError } from '../../contract/failure.ts';
import type { TerminalSize } from '../../contract/job.ts';
import { createDeferred } from '../../support/deferred.ts';
import { listInherited } from '../io/inherited-descriptors.ts';
import { toExit } from '../supervision/follow-keeper.ts';
import { keepCalm } from '../supervision/keeper.ts';
import { type PtyBinary, ptyHelper } from '../terminal/load-pty.ts';
import { toTerminal } from '../terminal/open-terminal.ts';
import {
  bashFlags,
  maxArgumentBytes,
  type ProcessExit,
  type ProcessPlan,
  type StartedProcess,
  toBound,
} from './start-process.ts';

// The kernel throws away what is still on its way through a terminal when the leader of its session ends. So a shell leads
// and the command is its child: it stays for a moment, waiting for input that never comes from a terminal nobody uses.
const leaderScript = `${keepCalm}; "$@"; status=$?; read -r -t 0.1 </dev/ptmx; exit "$status"`;
const closeOthers = () =>
  listInherited()
    .map((fd) => `exec ${fd}<&-; `)
    .join('');

/** Starts a command in the session of a new terminal. */
export function startAtTerminal(
  pty: PtyBinary,
  asked: Omit<ProcessPlan, 'fifos'>,
  { cols, rows }: TerminalSize,
): StartedProcess {
  const plan = toBound(asked);
  const args = [...bashFlags, closeOthers() + leaderScript, 'bash', ...toArguments(plan)];
  const env = Object.entries(plan.env).map(([name, value]) => `${name}=${value}`);
  const exited = createDeferred<ProcessExit>();
  const onExit = (code: number, signal: number) => exited.resolve(toExit(signal === 0 ? code : 128 + signal));
  const same = -1;
  const started = pty.fork(
    plan.bashPath,
    args,
    env,
    plan.cwd,
    cols,
    rows,
    same,
    same,
    true,
    ptyHelper(),
    onExit,
  );
  const { fd, pid } = started;
  const terminal = toTerminal(pty, fd, statSync(started.pty));
  return { pid, exited: exited.promise, stdout: fd, stderr: fd, stdin: null, terminal };
}

function toArguments({ command, bashPath }: Omit<ProcessPlan, 'fifos'>): readonly [string, ...string[]] {
  if (command.kind === 'argv') return command.argv;
  if (Buffer.byteLength(command.script) <= maxArgumentBytes)
    return [bashPath, ...bashFlags, '--', command.script];
  throw new NacreError(
    'invalid_request',
    `A script for a terminal may have ${maxArgumentBytes} bytes here, and this one is longer.`,
    { hint: 'Put it into a file and run that.' },
  );
}
