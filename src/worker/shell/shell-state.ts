import type { SessionFacts } from '../../contract/facts.ts';
import type { Restoration } from '../../contract/session.ts';
import { quote } from '../../support/quote.ts';
import { type Declaration, readAliases, readDeclarations } from './read-declarations.ts';
import { loopBuiltins, loopVariables } from './shell-script.ts';
import type { PrintedState } from './shell-status.ts';
import { splitFunctions } from './split-functions.ts';

/** The state of a persistent shell: enough for policy to judge its next command, and for `toRestoreScript`. */
export interface ShellState {
  readonly cwd: string;
  readonly declarations: readonly Declaration[];
  /** Definitions by function name, as `declare -f` prints them. */
  readonly functions: ReadonlyMap<string, string>;
  readonly exportedFunctions: readonly string[];
  readonly aliases: ReadonlyMap<string, string>;
  /** Names of the `set -o` options that are on. */
  readonly options: readonly string[];
  /** Names of the `shopt` options that are on. */
  readonly shopts: readonly string[];
  /** True when a command changed the loop's variables, or set a trap that can skip commands of the loop (`extdebug`). */
  readonly tampered: boolean;
}

/** A state with nothing but a directory. */
export function emptyState(cwd: string): ShellState {
  return {
    cwd,
    declarations: [],
    functions: new Map(),
    exportedFunctions: [],
    aliases: new Map(),
    options: [],
    shopts: [],
    tampered: false,
  };
}

/** Parses the state that `toHostScript`'s shell printed. */
export function toShellState(cwd: string, printed: PrintedState): ShellState {
  const listed = printed.functionNames.split('\n').map((line) => /^declare -(\w+) (.+)$/.exec(line));
  const names = listed.flatMap((found) => found?.[2] ?? []);
  const all = readDeclarations(printed.variables);
  const find = (name: string) => all.find((declaration) => declaration.name === name);
  const shopts = find('BASHOPTS')?.value?.split(':') ?? [];
  return {
    cwd,
    declarations: all.filter(({ name }) => !loopVariables.has(name)),
    functions: splitFunctions(printed.functions, names),
    exportedFunctions: listed.flatMap((found) => (found?.[1]?.includes('x') ? (found[2] ?? []) : [])),
    aliases: readAliases(printed.aliases),
    options: find('SHELLOPTS')?.value?.split(':') ?? [],
    shopts,
    tampered:
      all.some((declaration) => isUsedByLoop(declaration) && altersValues(declaration)) ||
      (printed.hasTraps && shopts.includes('extdebug')),
  };
}

/** A text that is equal for equal states; variables such as RANDOM, which change by themselves, are left out. */
export function toFingerprint(cwd: string, printed: PrintedState): string {
  const { functionNames, functions, aliases, variables } = printed;
  return [cwd, functionNames, functions, aliases, variables.replace(volatile, '\0')].join('\0');
}

// Variables whose values change with every command, while they still have their original attributes. They are replaced
// by NUL, which no value can contain.
const volatile = /^declare (?:-i RANDOM|-- __nacre|-- __nacre_(?:out|err|status))(?:="[\w-]*")?$/gm;

/** False for a state that no shell prints: then other output was mistaken for it. */
export function isPlausible({ cwd, declarations }: ShellState): boolean {
  return cwd.startsWith('/') && declarations.some(({ name }) => name === 'SHELLOPTS');
}

function isUsedByLoop({ name }: Declaration): boolean {
  return loopVariables.has(name) || name === 'IFS';
}

// With `declare -r`, `-i`, `-a`, `-n`, `-u` or `-l` a variable would not keep the assigned value.
function altersValues({ attributes }: Declaration): boolean {
  return /[^-xt]/.test(attributes);
}

/** A script that restores a state in a new shell; it leaves out `set -e` and everything that would break the loop. */
export function toRestoreScript(state: ShellState, fresh: ShellState): string {
  const functions = [...state.functions].filter(([name]) => !loopBuiltins.has(name));
  return [
    // Options first: a function that uses extglob patterns can only be parsed with `extglob` on.
    ...toChanges(state.shopts, fresh.shopts, 'shopt -s', 'shopt -u'),
    ...state.declarations.filter(isRestorable).map(({ text }) => text),
    // A separate `eval` for each: a definition that bash cannot parse again must not prevent the others.
    ...functions.map(([, text]) => `eval -- ${quote(text)}`),
    ...state.exportedFunctions.map((name) => `declare -fx ${quote(name)}`),
    ...[...state.aliases].map(([name, text]) => `alias -- ${quote(name)}=${quote(text)}`),
    toOldPwd(findValue(state, 'OLDPWD')),
    ...toChanges(state.options, fresh.options, 'set -o', 'set +o'),
  ].join('\n');
}

// The `cd` that moved the new shell has set OLDPWD to its start directory.
function toOldPwd(directory: string | undefined): string {
  return directory === undefined ? 'unset -v OLDPWD' : `OLDPWD=${quote(directory)}`;
}

/** Compares a state with that of the shell into which it was restored. */
export function toRestoration(
  state: ShellState,
  restored: ShellState,
  reason: Restoration['reason'],
): Restoration {
  const missing = [...state.functions.keys()].filter((name) => !restored.functions.has(name));
  return {
    reason,
    variables: state.declarations.filter(isRestorable).length,
    functions: state.functions.size - missing.length,
    aliases: state.aliases.size,
    lost: [
      ...['traps', 'job numbers', 'positional parameters', 'umask and ulimit'],
      ...(state.options.includes('errexit') ? ['set -e'] : []),
      ...(missing.length > 0 ? [`functions (${missing.join(', ')})`] : []),
    ],
  };
}

/** The facts of a state that policy needs. */
export function toSessionFacts(state: ShellState, fresh: ShellState | null): SessionFacts {
  const values = state.declarations.flatMap(({ name, value }) =>
    value === undefined ? [] : [[name, value] as const],
  );
  return {
    cwd: state.cwd,
    aliases: Object.fromEntries(state.aliases),
    functions: Object.fromEntries(state.functions),
    exportedFunctions: state.exportedFunctions,
    variables: Object.fromEntries(values),
    attributes: Object.fromEntries(state.declarations.map(({ name, attributes }) => [name, attributes])),
    arrays: state.declarations
      .filter(({ name, attributes }) => /[aA]/.test(attributes) && !setByBash.test(name))
      .map(({ text }) => text),
    options: [...state.options, ...state.shopts],
    pathUnchanged: findValue(state, 'PATH') === findValue(fresh, 'PATH'),
  };
}

function findValue(state: ShellState | null, name: string): string | undefined {
  return state?.declarations.find((declaration) => declaration.name === name)?.value;
}

const neverRestored = new Set(
  'errexit noexec onecmd history extdebug login_shell restricted_shell'.split(' '),
);
// bash sets these itself, or makes them `readonly` at start.
const setByBash =
  /^(?:_|BASH.*|COMP_.*|DIRSTACK|EPOCH.*|EUID|FUNCNAME|GROUPS|HISTCMD|HOSTNAME|HOSTTYPE|LINENO|MACHTYPE|OLDPWD|OPTERR|OPTIND|OSTYPE|PIPESTATUS|PPID|PWD|RANDOM|SECONDS|SHELLOPTS|SHLVL|SRANDOM|UID)$/;

function isRestorable(declaration: Declaration): boolean {
  return !setByBash.test(declaration.name) && !(isUsedByLoop(declaration) && altersValues(declaration));
}

function toChanges(
  now: readonly string[],
  before: readonly string[],
  turnOn: string,
  turnOff: string,
): readonly string[] {
  const changed = (names: readonly string[], others: readonly string[], command: string) =>
    names
      .filter((name) => !others.includes(name) && !neverRestored.has(name))
      .map((name) => `${command} ${name}`);
  return [...changed(now, before, turnOn), ...changed(before, now, turnOff)];
}
