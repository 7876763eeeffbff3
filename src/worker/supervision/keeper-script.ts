import type { Command } from '../../contract/command.ts';
import { quote } from '../../support/quote.ts';
import { quoteInAscii, readLengthPrefixed, withLengthPrefix } from '../io/encode-for-bash.ts';
import type { Environment } from '../machine/environment.ts';

/** The keeper's script; `before` is bash code to run first in its namespace. */
export function toKeeperScript(before = ':', atTerminal = false): string {
  const lines = atTerminal
    ? [ignoreTtySignals, before, ...toSteps(terminalLauncherScript, startInGroupOfKeeper)]
    : [before, ...toSteps(launcherScript, startAsGroupLeader)];
  return lines.join('\n');
}

const ttySignals = 'HUP INT QUIT TERM TSTP TTIN TTOU';

/**
 * Bash code that lets a shell survive signals such as SIGINT from the terminal that it shares with its command. The command
 * would inherit the ignored signals, so its process runs `restoreTtySignals` first. Handlers would interrupt `wait`.
 */
export const ignoreTtySignals = `trap '' ${ttySignals}`;

/** Bash code that undoes `ignoreTtySignals` in a child. */
export const restoreTtySignals = `trap - ${ttySignals}`;

/**
 * Bash code that sets a CHLD trap, which runs `report` once the newest background process has ended. In this trap `jobs` prints
 * `Exit 130` after `exit 130`, but `Interrupt` after SIGINT, although `$?` is 130 in both cases. It prints nothing about a
 * foreground process.
 */
export function onChildEnd(report: string): string {
  return `trap 'kill -0 $! 2>/dev/null || ${report}' CHLD`;
}

/**
 * Bash code with which a background process waits until the shell that forked it sleeps in `wait`. If the process ended earlier,
 * that shell could run its CHLD trap in the middle of malloc() and abort (bash 5.2).
 */
export const untilParentSleeps =
  'while IFS= read -r parent </proc/$$/stat && [[ $parent == *") R "* ]]; do :; done 2>/dev/null';

/**
 * The keeper is the parent of the command's shell, inside the namespace, and reports on descriptor 3:
 * 1. `ready` once it has forked that shell and the namespace's init process sleeps,
 * 2. `ended STATUS COUNT TIMES` when the command's shell has ended: its exit status, the number of processes in /proc,
 *    and the output of `times` (CPU time of the keeper on the first line, of its children on the second). The line that
 *    `jobs` prints about the shell (`onChildEnd`) comes before it.
 * 3. then it keeps the namespace alive until descriptor 4 reads EOF, which means that the server is gone, or until it is
 *    killed, so that processes that were left running can be listed first.
 * The command gets neither descriptor. The keeper's stderr is descriptor 3 as well, because bash writes a line to it about a child
 * that a signal has killed.
 */
const toSteps = (launcher: string, start: readonly string[]) => [
  waitUntilInitSleeps,
  `run() { ${restoreTtySignals}; ${untilParentSleeps}; exec "$BASH" --noprofile --norc -c ${quote(launcher)} bash; }`,
  'exec 5>&2 2>&3',
  onChildEnd('jobs >&3'),
  ...start,
  'printf "ready\\0" >&3',
  'wait $!',
  'status=$?',
  'exec 0<&- 1>&- 5>&-',
  'processes=(/proc/[0-9]*)',
  `{ printf "ended %d %d " "$status" "\${#processes[@]}"; times; printf "\\0"; } >&3`,
  // Lines read from descriptor 4 are ignored; only EOF counts.
  'while read -r <&4; do :; done',
  'exit "$status"',
];

// `<&0`, because bash would redirect the stdin of a background process from /dev/null.
const startInGroupOfKeeper = ['run <&0 2>&5 3>&- 4<&- 5>&- &'];
// With job control the shell leads a process group, so that `kill 0` in a command reaches neither keeper nor supervisor.
const startAsGroupLeader = ['set -m', ...startInGroupOfKeeper, 'set +m'];

// bubblewrap calls prctl(PR_SET_PDEATHSIG) in the init process only after it has forked the keeper. An init process that
// gets there later than a whole command takes would outlive the supervisor; once it sleeps, it has made that call.
// Descriptor 4 never has data, so `read -t` on it is a short sleep that needs no other process.
const waitUntilInitSleeps =
  "while [[ $$ != 1 ]] && IFS= read -r init </proc/1/stat && [[ $init != *') S '* ]]; do read -r -t 0.001 <&4; done";

/** A message of a keeper on descriptor 3, which ends with NUL. */
export type KeeperMessage =
  | { readonly kind: 'ready' }
  | {
      readonly kind: 'ended';
      readonly status: number;
      /** True if a signal killed the command's shell; false if it exited, or if `jobs` printed nothing. */
      readonly isKilled: boolean;
      readonly processes: number;
      /** CPU time of the command's shell and of all processes that it has waited for. */
      readonly cpuMs: number;
    };

/** Parses a keeper's message; undefined for anything else. */
export function parseKeeperMessage(text: string): KeeperMessage | undefined {
  if (readyPattern.test(text)) return { kind: 'ready' };
  const [, how, code, count, ms] = exitedPattern.exec(text) ?? [];
  if (how !== undefined)
    return {
      kind: 'ended',
      status: Number(code),
      isKilled: how === 'killed',
      processes: Number(count),
      cpuMs: Number(ms),
    };
  const start = Math.max(text.lastIndexOf('\nended ') + 1, 0);
  const [, status, processes, user, system] = endedPattern.exec(text.slice(start)) ?? [];
  if (status === undefined || processes === undefined) return undefined;
  const cpuMs = toMs(user) + toMs(system);
  const isKilled = wasKilled(text.slice(0, start), status);
  return { kind: 'ended', status: Number(status), isKilled, processes: Number(processes), cpuMs };
}

// The guard adds the version of Landlock. Lines before it are bash's own: at a process limit it reports each fork() that it repeats.
const readyPattern = /(?:^|\n)ready(?: \d+)?$/;

// From a keeper of `namespaceScript`.
const exitedPattern = /^(exited|killed) (\d{1,3}) (\d{1,7}) (\d{1,12})$/;

// In every language, `jobs` prints the status of a process that exited: `[1]+  Exit 130   run`.
function wasKilled(text: string, status: string): boolean {
  const job = text.split('\n').find((line) => line.startsWith('[1]'));
  return Number(status) > 128 && job !== undefined && !job.split(/\s+/).includes(status);
}

// The decimal separator in the output of `times` depends on the locale.
const endedPattern = /^ended (\d{1,3}) (\d{1,7}) \S+ \S+\n(\d+m\d+\D\d{3}s) (\d+m\d+\D\d{3}s)\n$/;

function toMs(time = ''): number {
  const [minutes = 0, seconds = 0, thousandths = 0] = time.match(/\d+/g)?.map(Number) ?? [];
  return minutes * 60_000 + seconds * 1_000 + thousandths;
}

/** The command that a waiting shell runs, with its directory, variables and limits. */
export interface LaunchOptions {
  /** The command, or `file` for a script that is open as descriptor 6. */
  readonly command: Command | 'file';
  readonly cwd: string;
  readonly env: Environment;
  /** `empty` redirects the command's stdin from /dev/null; `open` leaves it the bytes after the launch message. */
  readonly stdin: 'empty' | 'open';
  /** Bash code that applies the limits (`ulimit`); may be empty. */
  readonly prelude: string;
  readonly atTerminal: boolean;
}

const variable = '__nacre_launch';

/** The descriptor from which a shell at a terminal reads its launch message. */
export const launchFd = 7;

/** The script of the shell that reads a launch message from `stdin` and then becomes the command's own shell. */
export const launcherScript = `${toReading('')} && eval "$${variable}"`;

/** The same for a shell at a terminal, whose stdin is the keyboard: it reads the message from `launchFd`. */
export const terminalLauncherScript = `${toReading(` <&${launchFd}`)} && eval "$${variable}"`;

function toReading(from: string): string {
  return readLengthPrefixed({ read: `read${from}`, variable });
}

/** The message to a waiting shell, in two parts, so that the shell can set itself up before the start of the command is recorded. */
export interface LaunchMessage {
  /** Runs `cd` and waits for `run`; has no effect outside of the shell. */
  readonly setUp: string;
  /** Runs the command. */
  readonly run: string;
}

/** Writes a launch message as bash code, each part preceded by its length (`withLengthPrefix`). */
export function toLaunchMessage({
  command,
  cwd,
  env,
  stdin,
  prelude,
  atTerminal,
}: LaunchOptions): LaunchMessage {
  const setUp = [
    `cd -- ${quoteInAscii(cwd)} || exit 125`,
    'unset OLDPWD',
    `${toReading(atTerminal ? ` <&${launchFd}` : '')} || exit 125`,
    ...(atTerminal ? [`exec ${launchFd}<&-`] : []),
    ...(stdin === 'empty' ? ['exec </dev/null'] : []),
    `eval "$${variable}"`,
  ];
  // The variables are in the second part, because some of them (LC_ALL, TMOUT) change how bash reads.
  const run = [
    `unset ${variable}`,
    ...Object.entries(env).map(([name, value]) => `export ${name}=${quoteInAscii(value)}`),
    ...(prelude === '' ? [] : [prelude]),
    toText(command),
  ];
  // Everything is on one line, so that the command's first line is line 1 in bash's messages and in LINENO.
  return { setUp: withLengthPrefix(setUp.join('; ')), run: withLengthPrefix(run.join('; ')) };
}

function toText(command: LaunchOptions['command']): string {
  if (command === 'file') return 'eval -- "$(</dev/fd/6)" 6<&-';
  if (command.kind === 'shell') return `eval -- ${quoteInAscii(command.script)}`;
  return `exec -- ${command.argv.map(quoteInAscii).join(' ')}`;
}
