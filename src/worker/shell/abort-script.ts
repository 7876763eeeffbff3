import { quote } from '../../support/quote.ts';

/**
 * The signal that makes a persistent shell abort its command. bash itself can only continue after an INT trap, or exit without
 * one. A real-time signal, so that no program sends it for another purpose.
 */
export const abortSignal = 62;

/** Set by the loop while a command runs. */
export const runningVariable = '__nacre_running';

/** Set by the trap: the exit status of an aborted command. */
const abortedVariable = '__nacre_aborted';

/** Variables of the trap; they are not part of a session's state. */
export const abortVariables = [
  runningVariable,
  abortedVariable,
  '__nacre_trap',
  '__nacre_flags',
  '__nacre_debug',
] as const;

const marker = '#abort: ';

// The trap itself is short, because `trap -p` shows it; its code is a comment at the end of the shell's own script.
const trapText = `builtin eval -- "\${BASH_EXECUTION_STRING##*${marker}}"`;

/** Bash code that sets the trap, at the beginning of the loop. */
export const setAbortTrap = `builtin trap -- ${quote(trapText)} ${abortSignal}`;

/** Removes the line of the trap from the output of `trap -p`. */
export function withoutAbortTrap(traps: string): string {
  return traps.replace(`trap -- ${quote(trapText)} SIGRTMAX-2\n`, '');
}

// A DEBUG trap with `extdebug` decides about every further command: `return` leaves a function or a sourced file, `break` the
// innermost loop, and a status other than 0 skips the command, until `toLoop` assigns a variable of its own. `false` after `break` would not
// be executed, so `!` inverts the status of `break`.
const skipCommands = [
  `if [[ $BASH_COMMAND == __nacre_* ]]; then builtin trap - DEBUG`,
  `elif [[ -n \${FUNCNAME-} ]]; then builtin return 130`,
  `else ! builtin break 2>/dev/null; fi`,
].join('; ');

// The text of the trap without `marker`, which may appear in the code only once, as its beginning.
const setAbortTrapAgain = setAbortTrap.replace(marker, marker.replace('#', "#''"));

// 1. The status is that of a program that a signal has killed, otherwise that of SIGINT.
// 2. The signal is ignored while the trap reads the user's traps: a second one has no effect, and nacre recognises the two
//    subshells, which must not be killed, because they ignore it as well.
// 3. The user's own INT trap runs once, in this shell.
// 4. Everything that follows in the command is skipped.
const abort = [
  `${abortedVariable}=\${${abortedVariable}:-\${${runningVariable}:+new$?}}`,
  `if [[ -n \${${runningVariable}-} ]]; then if [[ $${abortedVariable} == new* ]]`,
  `then builtin trap -- '' ${abortSignal}; __nacre_trap=\${${abortedVariable}#new} ${abortedVariable}=130`,
  `if (( __nacre_trap > 128 && __nacre_trap < 128 + 32 )); then ${abortedVariable}=$__nacre_trap; fi`,
  '__nacre_flags=$- __nacre_debug=$(builtin shopt -p extdebug; builtin trap -p DEBUG) __nacre_trap=$(builtin trap -p INT)',
  setAbortTrapAgain,
  `__nacre_trap=\${__nacre_trap#trap -- } __nacre_trap=\${__nacre_trap% SIGINT}`,
  'if [[ -n $__nacre_trap ]]; then builtin eval "builtin eval -- $__nacre_trap"; fi',
  `fi; builtin shopt -s extdebug; builtin trap -- ${quote(skipCommands)} DEBUG; fi`,
].join('; ');

/** The comment from which `trapText` reads its code, at the end of the loop. */
export const abortComment = `${marker}${abort}`;

/** Bash code after a command: if it was aborted, restores the user's DEBUG trap and options, and sets the status. */
export const concludeAbort = [
  `if [[ -n \${${abortedVariable}-} ]]; then __nacre_status=$${abortedVariable} ${abortedVariable}=; builtin trap - DEBUG`,
  // `shopt -u extdebug` also turns off functrace and errtrace.
  'builtin shopt -u extdebug; builtin eval "$__nacre_debug"',
  'if [[ $__nacre_flags == *T* ]]; then builtin set -T; fi; if [[ $__nacre_flags == *E* ]]; then builtin set -E; fi; fi',
].join('; ');
