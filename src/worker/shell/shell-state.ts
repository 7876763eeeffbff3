import type { SessionFacts } from '../../contract/facts.ts';
import type { Restoration } from '../../contract/session.ts';
import { quote } from '../supervision/order.ts';
import { type Declaration, readDeclarations } from './read-declarations.ts';
import { ownBuiltins, ownNames } from './shell-script.ts';
import type { PrintedState } from './shell-status.ts';

/** What is known of a persistent shell: enough to judge its next command, and to begin another like it. */
export interface ShellState {
  readonly cwd: string;
  readonly declarations: readonly Declaration[];
  /** Function name to its definition as bash prints it. */
  readonly functions: ReadonlyMap<string, string>;
  readonly exportedFunctions: readonly string[];
  /** Alias name to its text. */
  readonly aliases: ReadonlyMap<string, string>;
  /** Lines of `shopt -p` and `set +o`. */
  readonly settings: readonly string[];
}

/** Reads a state from what bash printed. */
export function toShellState(cwd: string, printed: PrintedState): ShellState {
  const listed = printed.functionNames.split('\n').map((line) => /^declare -(\w+) (.+)$/.exec(line));
  const names = listed.flatMap((found) => found?.[2] ?? []);
  return {
    cwd,
    declarations: readDeclarations(printed.variables).filter(({ name }) => !ownNames.has(name)),
    functions: splitFunctions(printed.functions, new Set(names)),
    exportedFunctions: listed.flatMap((found) => (found?.[1]?.includes('x') ? (found[2] ?? []) : [])),
    aliases: readAliases(printed.aliases),
    settings: `${printed.shopts}${printed.options}`.split('\n').filter((line) => line !== ''),
  };
}

/** A script that makes a fresh shell like the one whose state it was: never errexit, never what would break the loop. */
export function toRestoreScript(state: ShellState): string {
  const functions = [...state.functions].filter(([name]) => !ownBuiltins.has(name));
  return [
    ...state.declarations.filter(isRestorable).map(({ text }) => text),
    ...functions.map(([, text]) => text),
    ...state.exportedFunctions.map((name) => `declare -fx ${quote(name)}`),
    ...[...state.aliases].map(([name, text]) => `alias -- ${quote(name)}=${quote(text)}`),
    ...state.settings.filter((line) => !neverRestored.test(line)),
  ].join('\n');
}

/** What of a state a fresh shell gets, in figures, and what it does not. */
export function toRestoration(state: ShellState, reason: Restoration['reason']): Restoration {
  const shadows = [...state.functions.keys()].filter((name) => ownBuiltins.has(name));
  const hasErrexit = state.settings.includes('set -o errexit');
  return {
    reason,
    variables: state.declarations.filter(isRestorable).length,
    functions: state.functions.size - shadows.length,
    aliases: state.aliases.size,
    lost: [
      'traps',
      'job numbers',
      ...(hasErrexit ? ['set -e'] : []),
      ...(shadows.length > 0 ? [`functions named as builtins (${shadows.join(', ')})`] : []),
    ],
  };
}

/** What policy has to know of the state. */
export function toSessionFacts(state: ShellState, path: string | undefined): SessionFacts {
  const values = state.declarations.flatMap(({ name, value }) =>
    value === undefined ? [] : [[name, value]],
  );
  const variables: Record<string, string> = Object.fromEntries(values);
  return {
    cwd: state.cwd,
    aliases: Object.fromEntries(state.aliases),
    functions: Object.fromEntries(state.functions),
    exportedFunctions: state.exportedFunctions,
    variables,
    attributes: Object.fromEntries(state.declarations.map(({ name, attributes }) => [name, attributes])),
    arrays: state.declarations
      .filter(({ name, attributes }) => /[aA]/.test(attributes) && !givenByBash.test(name))
      .map(({ text }) => text),
    options: state.settings.flatMap((line) => /^(?:shopt -s|set -o) (\S+)$/.exec(line)?.[1] ?? []),
    pathUnchanged: variables.PATH === path,
  };
}

const neverRestored =
  /^(?:set -o (?:errexit|noexec|onecmd|history)|shopt -[su] (?:extdebug|login_shell|restricted_shell))$/;
// Bash gives these their values itself, or they are read-only from the start.
const givenByBash =
  /^(?:_|BASH.*|COMP_.*|DIRSTACK|EPOCH.*|EUID|FUNCNAME|GROUPS|HISTCMD|HOSTNAME|HOSTTYPE|LINENO|MACHTYPE|OLDPWD|OPTERR|OPTIND|OSTYPE|PIPESTATUS|PPID|PWD|RANDOM|SECONDS|SHELLOPTS|SHLVL|SRANDOM|UID)$/;

function isRestorable({ name, attributes }: Declaration): boolean {
  // The loop sets IFS for its own reading.
  return !givenByBash.test(name) && !(name === 'IFS' && attributes.includes('r'));
}

// Each definition begins on a line of its own; a listed name tells it from a line of a here-document.
function splitFunctions(text: string, names: ReadonlySet<string>): ReadonlyMap<string, string> {
  const found = new Map<string, string[]>();
  let lines: string[] = [];
  let last = '}';
  for (const line of text.split('\n')) {
    const name = /^(.+) \(\) $/.exec(line)?.[1];
    if (name !== undefined && last === '}' && names.has(name)) {
      lines = [];
      found.set(name, lines);
    }
    lines.push(line);
    last = line;
  }
  return new Map([...found].map(([name, body]) => [name, body.join('\n').trimEnd()]));
}

function readAliases(text: string): ReadonlyMap<string, string> {
  const aliases = new Map<string, string>();
  const entry = /^alias (?:-- )?([^=\n]+)=((?:'[^']*'|\\'|"'*")*)$/gm;
  for (const [, name = '', value = ''] of text.matchAll(entry))
    aliases.set(
      name,
      value.replace(/'([^']*)'|\\(')|"('*)"/g, (_, plain = '', one = '', many = '') => plain + one + many),
    );
  return aliases;
}
