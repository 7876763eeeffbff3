import type { SessionFacts } from '../../contract/facts.ts';
import type { Restoration } from '../../contract/session.ts';
import { quote } from '../../support/quote.ts';
import { type Declaration, readAliases, readDeclarations } from './read-declarations.ts';
import { ownBuiltins, ownNames } from './shell-script.ts';
import type { PrintedState } from './shell-status.ts';
import { splitFunctions } from './split-functions.ts';

/** What is known of a persistent shell: enough to judge its next command, and to begin another like it. */
export interface ShellState {
  readonly cwd: string;
  readonly declarations: readonly Declaration[];
  /** Function name to its definition as bash prints it. */
  readonly functions: ReadonlyMap<string, string>;
  readonly exportedFunctions: readonly string[];
  /** Alias name to its text. */
  readonly aliases: ReadonlyMap<string, string>;
  /** What is on: names of `set -o` and of `shopt`. */
  readonly options: readonly string[];
  readonly shopts: readonly string[];
  /** True when a command has laid hands on what the loop reads its orders with, or on what it tells: traps can skip that. */
  readonly spoilt: boolean;
}

/** The state of a shell of which only the directory is known. */
export function nothingKnown(cwd: string): ShellState {
  return {
    cwd,
    declarations: [],
    functions: new Map(),
    exportedFunctions: [],
    aliases: new Map(),
    options: [],
    shopts: [],
    spoilt: false,
  };
}

/** Reads a state from what bash printed. */
export function toShellState(cwd: string, printed: PrintedState): ShellState {
  const listed = printed.functionNames.split('\n').map((line) => /^declare -(\w+) (.+)$/.exec(line));
  const names = listed.flatMap((found) => found?.[2] ?? []);
  const all = readDeclarations(printed.variables);
  const find = (name: string) => all.find((declaration) => declaration.name === name);
  const shopts = find('BASHOPTS')?.value?.split(':') ?? [];
  return {
    cwd,
    declarations: all.filter(({ name }) => !ownNames.has(name)),
    functions: splitFunctions(printed.functions, names),
    exportedFunctions: listed.flatMap((found) => (found?.[1]?.includes('x') ? (found[2] ?? []) : [])),
    aliases: readAliases(printed.aliases),
    options: find('SHELLOPTS')?.value?.split(':') ?? [],
    shopts,
    spoilt:
      all.some((declaration) => isLoops(declaration) && changesValues(declaration)) ||
      (printed.hasTraps && shopts.includes('extdebug')),
  };
}

/** A text that is the same for the same state: whatever of it does not change by itself. */
export function toFingerprint(cwd: string, printed: PrintedState): string {
  const { functionNames, functions, aliases, variables } = printed;
  return [cwd, functionNames, functions, aliases, variables.replace(restless, '\0')].join('\0');
}

// Variables whose values change with every command, as long as they are what they were made as. What stands in their
// place in the text can stand in no value.
const restless = /^declare (?:-i RANDOM|-- __nacre|-- __nacre_(?:out|err|status))(?:="[\w-]*")?$/gm;

/** False for what no shell says of itself: then somebody else has spoken in its place. */
export function isCredible({ cwd, declarations }: ShellState): boolean {
  return cwd.startsWith('/') && declarations.some(({ name }) => name === 'SHELLOPTS');
}

function isLoops({ name }: Declaration): boolean {
  return ownNames.has(name) || name === 'IFS';
}

// Read-only, a number, an array, another's name, upper or lower case: it would not keep what it is given.
function changesValues({ attributes }: Declaration): boolean {
  return /[^-xt]/.test(attributes);
}

/**
 * A script that makes a fresh shell like one whose state is known: never with errexit, never with what would break the
 * loop.
 */
export function toRestoreScript(state: ShellState, fresh: ShellState): string {
  const functions = [...state.functions].filter(([name]) => !ownBuiltins.has(name));
  return [
    // First: a function can only be read with the options under which it was written (extglob).
    ...toChanges(state.shopts, fresh.shopts, 'shopt -s', 'shopt -u'),
    ...state.declarations.filter(isRestorable).map(({ text }) => text),
    // Each by itself: one that bash prints in a way that it does not read must not cost the rest.
    ...functions.map(([, text]) => `eval -- ${quote(text)}`),
    ...state.exportedFunctions.map((name) => `declare -fx ${quote(name)}`),
    ...[...state.aliases].map(([name, text]) => `alias -- ${quote(name)}=${quote(text)}`),
    toPrevious(findValue(state, 'OLDPWD')),
    ...toChanges(state.options, fresh.options, 'set -o', 'set +o'),
  ].join('\n');
}

// Where `cd -` goes; whoever moved the new shell has left another one there.
function toPrevious(directory: string | undefined): string {
  return directory === undefined ? 'unset -v OLDPWD' : `OLDPWD=${quote(directory)}`;
}

/** What of a state a fresh shell has got, in figures, and what it has not. */
export function toRestoration(
  state: ShellState,
  got: ShellState,
  reason: Restoration['reason'],
): Restoration {
  const missing = [...state.functions.keys()].filter((name) => !got.functions.has(name));
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

/** What policy has to know of the state. */
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
      .filter(({ name, attributes }) => /[aA]/.test(attributes) && !givenByBash.test(name))
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
// Bash gives these their values itself, or they are read-only from the start.
const givenByBash =
  /^(?:_|BASH.*|COMP_.*|DIRSTACK|EPOCH.*|EUID|FUNCNAME|GROUPS|HISTCMD|HOSTNAME|HOSTTYPE|LINENO|MACHTYPE|OLDPWD|OPTERR|OPTIND|OSTYPE|PIPESTATUS|PPID|PWD|RANDOM|SECONDS|SHELLOPTS|SHLVL|SRANDOM|UID)$/;

function isRestorable(declaration: Declaration): boolean {
  return !givenByBash.test(declaration.name) && !(isLoops(declaration) && changesValues(declaration));
}

function toChanges(
  now: readonly string[],
  before: readonly string[],
  turnOn: string,
  turnOff: string,
): readonly string[] {
  const changed = (names: readonly string[], others: readonly string[], how: string) =>
    names
      .filter((name) => !others.includes(name) && !neverRestored.has(name))
      .map((name) => `${how} ${name}`);
  return [...changed(now, before, turnOn), ...changed(before, now, turnOff)];
}
