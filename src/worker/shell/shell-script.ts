import { quote } from '../../support/quote.ts';
import { isAscii, quoteInAscii, readLengthPrefixed, withLengthPrefix } from '../io/encode-for-bash.ts';
import {
  abortComment,
  abortVariables,
  concludeAbort,
  runningVariable,
  setAbortTrap,
} from './abort-script.ts';

/** A request to a persistent shell: evaluate `text` with these outputs. */
export interface ShellRequest {
  /** FIFOs in the session's folder that `eval` is redirected to. */
  readonly stdout: string;
  readonly stderr: string;
  readonly text: string;
  /** Repeated in the reply, so that a command cannot forge its own status. */
  readonly nonce: string;
}

/** How the loop prints its state: all parts under one redirection, or each part redirected by itself (slower). */
export type StateMode = 'grouped' | 'apart';

/** Variables of `toLoop`; they are not part of a session's state. */
export const loopVariables: ReadonlySet<string> = new Set([
  '__nacre',
  '__nacre_out',
  '__nacre_err',
  '__nacre_status',
  'NACRE_COMMAND_ID',
  ...abortVariables,
]);

/** Builtins of `toLoop`: a function with such a name would shadow them, so it is not restored. */
export const loopBuiltins: ReadonlySet<string> = new Set(
  'alias builtin declare eval jobs printf pwd read shopt'.split(' '),
);

// Builtins that must work for the loop to run a command and print its state.
const enabledBuiltins = 'alias declare eval jobs printf pwd read';

/** True for the command line of the shell (`bash -c LOOP`), which its forked subshells share. */
export function isLoopCommandLine(commandLine: string): boolean {
  return commandLine.includes(' -c shopt -s expand_aliases; ') && commandLine.includes('__nacre_status');
}

// Prints the shell's state, each part redirected by `to`. `trap -p` comes first: if it prints a trap, that trap may have
// printed between the later parts.
function toStateReport(to: string): string {
  const nul = `builtin printf '\\0'${to}`;
  return [
    // Re-enable builtins that a command disabled with `enable -n`; the loop needs them.
    `builtin enable ${enabledBuiltins}${to} || builtin exit`,
    `builtin trap -p${to} || builtin printf 'trap -- unknown'${to}`,
    `builtin printf '\\0done %s %s\\0' "$__nacre" "$__nacre_status"${to} || builtin exit`,
    ...[`builtin pwd${to}`, nul, `builtin jobs -rp${to}`, `builtin declare -F${to}`, nul],
    ...['alias -p', 'declare -f', 'declare -p'].flatMap((part) => [`builtin ${part}${to}`, nul]),
  ].join('; ');
}

const toStatusFd = ' >&9 2>/dev/null';
const apartSuffix = '-apart';

/**
 * The script of a session's host process, which outlives the shells below it:
 * 1. it starts a shell, which reads requests from descriptor 8 and replies on descriptor 9,
 * 2. when that shell has exited, it writes `gone` to descriptor 9 and reads descriptor 8 until `again` arrives.
 * Background processes of the session survive the exit of a shell.
 */
export function toHostScript(folder: string): string {
  const loop = quote(toLoop(quote(`${folder}/`)));
  const read = `IFS= read -r -d '' -u 8`;
  // `__nacre_key` is known to nacre and the host only, so that a trap in the shell can forge neither message.
  const again = `while ${read} __nacre || exit 0; do [[ $__nacre == "again $__nacre_key" ]] && break; done`;
  const gone = `printf 'gone %s %d\\0' "$__nacre_key" "$?" >&9`;
  const life = `"$BASH" --noprofile --norc -c ${loop} bash; ${gone}; ${again}`;
  return `exec 8<&0 9>&1 </dev/null >/dev/null 2>&1; ${read} __nacre_key; while :; do ${life}; done`;
}

// The loop is one line, so that `$LINENO` is 1 on the first line of a command. bash parses all of it before a command
// can define an alias. The redirections are on `eval` itself, so that `set -x` does not print the `eval` into the
// command's stderr.
function toLoop(folder: string): string {
  const [out, err] = [`${folder}"$__nacre_out"`, `${folder}"$__nacre_err"`];
  const descriptors = `</dev/null >${out} 2>${err} 8<&- 9>&-`;
  const readRequest = readLengthPrefixed({ read: 'builtin read -u 8', variable: '__nacre' });
  const firstWord = `\${__nacre%% *} __nacre=\${__nacre#* }`;
  const readNonce = `IFS= builtin read -r -d '' -u 8 __nacre`;
  // The inner `for` absorbs a `break` in the command.
  const command = `for __nacre_status in 0; do builtin eval -- "$__nacre" ${descriptors}; done; __nacre_status=$?`;
  const run = `${runningVariable}=1; ${command}; ${runningVariable}=; ${concludeAbort}`;
  // With traps or `set -x`, redirect each part by itself: their output then goes to the shell's own stdout and stderr,
  // which are /dev/null.
  const grouped = `{ ${toStateReport('')}; }${toStatusFd} || builtin exit`;
  const report = `if [[ $__nacre == *${apartSuffix} || $- == *x* ]]; then ${toStateReport(toStatusFd)}; else ${grouped}; fi`;
  return [
    'shopt -s expand_aliases',
    setAbortTrap,
    // If a function named `builtin` shadows the builtin, `read` leaves `__nacre` empty and the loop ends. Under `set -n`,
    // or with a DEBUG trap that skips commands, every command succeeds unexecuted; `[[ -z $__nacre ]]` then ends the loop.
    `until __nacre=; { ${readRequest}; } || __nacre=; [[ -z $__nacre ]]; do __nacre_out=${firstWord} __nacre_err=${firstWord}`,
    `if [[ -p ${out} && -p ${err} ]]; then ${run}; else __nacre_status=lost; fi`,
    // `!` keeps `set -e` from ending the loop here; a shell that cannot read its nonce exits.
    `${readNonce} || builtin exit; ! { ${report}; }`,
    `done ${abortComment}`,
  ].join('; ');
}

/** Encodes a request as `toLoop` reads it: length-prefixed text, then the nonce. */
export function encodeRequest({ stdout, stderr, text, nonce }: ShellRequest): string {
  const ascii = isAscii(text) ? text : `builtin eval -- ${quoteInAscii(text)}`;
  return `${withLengthPrefix(`${stdout} ${stderr} ${ascii}`)}${nonce}\0`;
}

/** Adds the state mode to a nonce; in `apart` mode the output of traps cannot get into the state. */
export function toNonce(random: string, mode: StateMode): string {
  return mode === 'apart' ? `${random}${apartSuffix}` : random;
}

/** True for the nonce of a request whose state is printed in `apart` mode. */
export function isApart(nonce: string): boolean {
  return nonce.endsWith(apartSuffix);
}

/** The first message to a host: its key. */
export function keyMessage(key: string): string {
  return `${key}\0`;
}

/** The message `again`, which makes the host with this key start another shell. */
export function restartMessage(key: string): string {
  return `again ${key}\0`;
}
