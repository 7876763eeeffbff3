import { quote } from '../io/quote.ts';
import { launcherScript, terminalLauncherScript } from './order.ts';

/** The keeper's script, with what is to be done in its namespace first, and whether it is at a terminal. */
export function toKeeperScript(before = ':', atTerminal = false): string {
  const [begin, launcher] = atTerminal ? [keepCalm, terminalLauncherScript] : [':', launcherScript];
  return [begin, before, ...toSteps(launcher)].join('\n');
}

/**
 * What lets a shell live on when keys are pressed at the terminal that it shares with its command. Handlers and not
 * ignorance, which the command would inherit.
 */
export const keepCalm = 'trap : HUP INT QUIT TSTP TTIN TTOU';

/**
 * The keeper stays above the command's shell, inside its namespace, and tells how it ended:
 * 1. `ready` once it runs and the first process of its namespace sleeps,
 * 2. `ended STATUS COUNT TIMES` when the command's shell has ended, with the number of processes that /proc shows
 *    then and the CPU times that bash tells: its own in a line, its children's in the next,
 * 3. it holds the namespace open until it is ended, so that what was left running can be named before.
 * It speaks on descriptor 3; descriptor 4 is at its end when the server is. The command gets neither. Its own stderr is closed, because
 * bash would report a killed shell there.
 */
const toSteps = (launcher: string) => [
  untilRoofSleeps,
  'printf "ready\\0" >&3',
  'exec 5>&2 2>/dev/null',
  `"$BASH" --noprofile --norc -c ${quote(launcher)} bash 2>&5 3>&- 4<&- 5>&-`,
  'status=$?',
  'exec 0<&- 1>&- 5>&-',
  'processes=(/proc/[0-9]*)',
  `{ printf "ended %d %d " "$status" "\${#processes[@]}"; times; printf "\\0"; } >&3`,
  // Whatever is written there, only its end counts.
  'while read -r <&4; do :; done',
  'exit "$status"',
];

// bubblewrap binds the first process of a namespace to its parent's life only after it has started us. One that is slower
// than a whole command would outlive the supervisor; once it sleeps, it has nothing left to do but wait. Descriptor 4
// never has anything to read: that is a short rest without another process.
const untilRoofSleeps =
  "while [[ $$ != 1 ]] && IFS= read -r roof </proc/1/stat && [[ $roof != *') S '* ]]; do read -r -t 0.001 <&4; done";

/** What a keeper says. */
export type KeeperWord =
  | { readonly says: 'ready' }
  | {
      readonly says: 'ended';
      readonly status: number;
      readonly processes: number;
      /** CPU time of the command's shell and of what it has waited for. */
      readonly cpuMs: number;
    };

/** Reads a word of a keeper; undefined for what it never says. */
export function toKeeperWord(text: string): KeeperWord | undefined {
  if (text === 'ready') return { says: 'ready' };
  const [, status, processes, user, system] = endedWord.exec(text) ?? [];
  if (status === undefined || processes === undefined) return undefined;
  const cpuMs = toMs(user) + toMs(system);
  return { says: 'ended', status: Number(status), processes: Number(processes), cpuMs };
}

// A locale decides on the sign between seconds and their parts.
const endedWord = /^ended (\d{1,3}) (\d{1,7}) \S+ \S+\n(\d+m\d+\D\d{3}s) (\d+m\d+\D\d{3}s)\n$/;

function toMs(time = ''): number {
  const [minutes = 0, seconds = 0, thousandths = 0] = time.match(/\d+/g)?.map(Number) ?? [];
  return minutes * 60_000 + seconds * 1_000 + thousandths;
}
