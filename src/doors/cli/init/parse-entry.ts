// What an entry tells its client now. The folder, the commands and the sandbox count wherever they stand, as a flag or as
// a variable, so that what is chosen anew takes their place and no flag of before outranks it.
import type { ServerEntry } from '../../../clients/server-entry.ts';

/** An entry taken apart. */
export interface Told {
  /** The folder that commands run in; undefined for wherever the client starts nacre. */
  readonly project: string | undefined;
  /** Its variables; undefined when it has none, and no flag in their place. */
  readonly env: Readonly<Record<string, string>> | undefined;
  /** What its user has added to the command line. */
  readonly more: readonly string[];
}

/** The variables that stand for flags which `nacre init` asks about. */
const asked: Readonly<Record<string, string>> = {
  '--allow': 'ALLOWED_COMMANDS',
  '--preset': 'NACRE_PRESET',
  '--sandbox': 'NACRE_SANDBOX',
};

/** Takes an entry apart; `anew` are the flags that are given now, whose values of before are dropped. */
export function toldBefore(entry: Partial<ServerEntry> | undefined, anew: readonly string[]): Told {
  const { args = [], env } = entry ?? {};
  const at = args.indexOf('mcp');
  const own = at < 0 ? [] : args.slice(at + 1);
  const { more, values } = takeFlags(own, [...Object.keys(asked), '--cwd', ...anew]);
  const named = Object.entries(asked).flatMap(([flag, variable]) => {
    const value = values.get(flag);
    return value === undefined ? [] : [[variable, value] as const];
  });
  return {
    project: values.get('--cwd'),
    env: env === undefined && named.length === 0 ? undefined : { ...env, ...Object.fromEntries(named) },
    more,
  };
}

/** Whether the variables of an entry have a list without a program, which outranks the user's settings: nothing may run. */
export function listsNothing({ NACRE_PRESET: preset, ALLOWED_COMMANDS: list }: ServerEntry['env']): boolean {
  return !preset && list !== undefined && /^[\s,]*$/.test(list);
}

/** What the variables of an entry list, in words; empty when they have no list. */
export function toListWords(env: ServerEntry['env']): string {
  const { NACRE_PRESET: preset, ALLOWED_COMMANDS: list } = env;
  if (listsNothing(env)) return 'nothing';
  return [preset && `the preset ${preset}`, list].filter((part) => part).join(' and ');
}

function takeFlags(
  args: readonly string[],
  names: readonly string[],
): { readonly more: readonly string[]; readonly values: ReadonlyMap<string, string> } {
  const more: string[] = [];
  const values = new Map<string, string>();
  for (let index = 0; index < args.length; index += 1) {
    const word = args[index] ?? '';
    const [name = '', ...attached] = word.split('=');
    const next = args[index + 1];
    if (!names.includes(name)) {
      more.push(word);
    } else if (attached.length > 0) {
      put(values, name, attached.join('='));
    } else if (next !== undefined && !next.startsWith('--')) {
      put(values, name, next);
      index += 1;
    }
  }
  return { more, values };
}

// A list may be given in several parts; of anything else the last one counts.
function put(values: Map<string, string>, name: string, value: string): void {
  const before = values.get(name);
  values.set(name, before === undefined || name !== '--allow' ? value : `${before},${value}`);
}
