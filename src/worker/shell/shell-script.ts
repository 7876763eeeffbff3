import { quote } from '../../support/quote.ts';
import { readLengthPrefixed, withLengthPrefix } from '../io/length-prefix.ts';
import { isAscii, quoteInAscii } from '../io/quote-in-ascii.ts';

/** One command for a persistent shell. */
export interface ShellOrder {
  /** Names, in the session's folder, of the FIFOs that take its outputs. */
  readonly stdout: string;
  readonly stderr: string;
  readonly text: string;
  /** Comes back with the status, so that no command can tell its own. */
  readonly nonce: string;
}

/** How a shell tells its state. */
export type Telling = 'at once' | 'apart';

/** Names that the loop uses; they are no part of a session's state. */
export const ownNames: ReadonlySet<string> = new Set([
  '__nacre',
  '__nacre_out',
  '__nacre_err',
  '__nacre_status',
  'NACRE_COMMAND_ID',
]);

/** Builtins that the loop relies on: a function of such a name would take their place. */
export const ownBuiltins: ReadonlySet<string> = new Set(
  'alias builtin declare eval jobs printf pwd read shopt'.split(' '),
);

// What the loop runs commands and tells its state with.
const toldWith = 'alias declare eval jobs printf pwd read';

/** True for the command line of the shell, which is also that of what it forks for a part of a command. */
export function isLoop(commandLine: string): boolean {
  return commandLine.includes(' -c shopt -s expand_aliases; ') && commandLine.includes('__nacre_status');
}

// What a shell tells of itself, to where it is redirected. Its traps come first: whoever reads it knows then who else may
// have spoken.
function toTelling(to: string): string {
  const nul = `builtin printf '\\0'${to}`;
  return [
    // One that a command has turned off would be missed, or missing in what is told.
    `builtin enable ${toldWith}${to} || builtin exit`,
    `builtin trap -p${to} || builtin printf 'trap -- unknown'${to}`,
    `builtin printf '\\0done %s %s\\0' "$__nacre" "$__nacre_status"${to} || builtin exit`,
    ...[`builtin pwd${to}`, nul, `builtin jobs -rp${to}`, `builtin declare -F${to}`, nul],
    ...['alias -p', 'declare -f', 'declare -p'].flatMap((part) => [`builtin ${part}${to}`, nul]),
  ].join('; ');
}

const toUs = ' >&9 2>/dev/null';
const apartMark = '-apart';

/**
 * The script of a session's first process, which outlives the shell below it:
 * 1. it starts the shell, which reads its orders from descriptor 8 and answers on descriptor 9,
 * 2. when that shell has ended, by whatever a command did, it says so and waits for `again`.
 * What the session has in the background lives on beside both.
 */
export function toHostScript(folder: string): string {
  const loop = quote(toLoop(quote(`${folder}/`)));
  const next = `IFS= read -r -d '' -u 8`;
  // What only we and the host know: whatever a trap in the shell writes or reads beside them is not taken for theirs.
  const again = `while ${next} __nacre || exit 0; do [[ $__nacre == "again $__nacre_key" ]] && break; done`;
  const gone = `printf 'gone %s %d\\0' "$__nacre_key" "$?" >&9`;
  const life = `"$BASH" --noprofile --norc -c ${loop} bash; ${gone}; ${again}`;
  return `exec 8<&0 9>&1 </dev/null >/dev/null 2>&1; ${next} __nacre_key; while :; do ${life}; done`;
}

// On one line, so that the first line of a command is line 1 in bash's own messages. All of it is parsed before any
// command can define an alias. The redirections stand at `eval` itself: a trace of it then goes where nobody reads.
function toLoop(folder: string): string {
  const [out, err] = [`${folder}"$__nacre_out"`, `${folder}"$__nacre_err"`];
  const descriptors = `</dev/null >${out} 2>${err} 8<&- 9>&-`;
  const order = readLengthPrefixed({ read: 'builtin read -u 8', variable: '__nacre' });
  const first = `\${__nacre%% *} __nacre=\${__nacre#* }`;
  const next = `IFS= builtin read -r -d '' -u 8 __nacre`;
  // A `break` of the command ends the inner loop and no more.
  const run = `for __nacre_status in 0; do builtin eval -- "$__nacre" ${descriptors}; done; __nacre_status=$?`;
  // Where a trap or a trace speaks, each part is redirected by itself: what is printed in between goes where nobody reads.
  const atOnce = `{ ${toTelling('')}; }${toUs} || builtin exit`;
  const tell = `if [[ $__nacre == *${apartMark} || $- == *x* ]]; then ${toTelling(toUs)}; else ${atOnce}; fi`;
  return [
    'shopt -s expand_aliases',
    // A function in the place of `builtin` reads nothing, and no end of it would ever be seen. Under `set -n`, or a DEBUG
    // trap that skips commands, every command succeeds without being executed: the last one here then ends the loop.
    `until __nacre=; { ${order}; } || __nacre=; [[ -z $__nacre ]]; do __nacre_out=${first} __nacre_err=${first}`,
    `if [[ -p ${out} && -p ${err} ]]; then ${run}; else __nacre_status=lost; fi`,
    // Never an end by errexit; but a shell that cannot read is of no use.
    `${next} || builtin exit; ! { ${tell}; }`,
    'done',
  ].join('; ');
}

/** The words of an order. */
export function toShellOrder({ stdout, stderr, text, nonce }: ShellOrder): string {
  const ascii = isAscii(text) ? text : `builtin eval -- ${quoteInAscii(text)}`;
  return `${withLengthPrefix(`${stdout} ${stderr} ${ascii}`)}${nonce}\0`;
}

/**
 * A nonce that has the state told all at once or, which takes longer, part by part: what traps print in between stays
 * out of it then.
 */
export function toNonce(random: string, telling: Telling): string {
  return telling === 'apart' ? `${random}${apartMark}` : random;
}

/** True for the nonce of an order whose state is told part by part. */
export function isApart(nonce: string): boolean {
  return nonce.endsWith(apartMark);
}

/** The first word that a host gets: its key. */
export function toKeyWord(key: string): string {
  return `${key}\0`;
}

/** What makes the host with that key start another shell. */
export function toAgainWord(key: string): string {
  return `again ${key}\0`;
}
