// Parses an existing entry. The folder, the commands and the sandbox are read from flags as well as from variables, so
// that new values replace them and no old flag overrides a new variable.
import type { ServerEntry } from '../../../clients/server-entry.ts';

/** The parts of a `ServerEntry`. */
export interface ParsedEntry {
  /** The folder that commands run in (`--cwd`); undefined if the client decides. */
  readonly project: string | undefined;
  /** Its variables, including those in place of `askedFlags`; undefined if it has neither. */
  readonly env: Readonly<Record<string, string>> | undefined;
  /** All other arguments after `mcp`, such as those the user added. */
  readonly otherArgs: readonly string[];
}

/** Flags that `nacre init` asks about, with the variables of the same setting. */
const askedFlags: Readonly<Record<string, string>> = {
  '--allow': 'ALLOWED_COMMANDS',
  '--preset': 'NACRE_PRESET',
  '--sandbox': 'NACRE_SANDBOX',
  '--network': 'NACRE_NETWORK',
  '--network-allow': 'NACRE_NETWORK_ALLOW',
};

/** Parses an entry; the values of `newFlags`, which are given on the command line now, are dropped. */
export function parseEntry(
  entry: Partial<ServerEntry> | undefined,
  newFlags: readonly string[],
): ParsedEntry {
  const { args = [], env } = entry ?? {};
  const at = args.indexOf('mcp');
  const own = at < 0 ? [] : args.slice(at + 1);
  const { otherArgs, values } = extractFlags(own, [...Object.keys(askedFlags), '--cwd', ...newFlags]);
  const named = Object.entries(askedFlags).flatMap(([flag, variable]) => {
    const value = values.get(flag);
    return value === undefined ? [] : [[variable, value] as const];
  });
  return {
    project: values.get('--cwd'),
    env: env === undefined && named.length === 0 ? undefined : { ...env, ...Object.fromEntries(named) },
    otherArgs,
  };
}

/** Whether an entry has an empty ALLOWED_COMMANDS, which overrides the user's settings so that nothing may run. */
export function listsNothing({ NACRE_PRESET: preset, ALLOWED_COMMANDS: list }: ServerEntry['env']): boolean {
  return !preset && list !== undefined && /^[\s,]*$/.test(list);
}

/** Describes the allow list of an entry; empty if it has none. */
export function describeAllowed(env: ServerEntry['env']): string {
  const { NACRE_PRESET: preset, ALLOWED_COMMANDS: list } = env;
  if (listsNothing(env)) return 'nothing';
  return [preset && `the preset ${preset}`, list].filter((part) => part).join(' and ');
}

function extractFlags(
  args: readonly string[],
  names: readonly string[],
): { readonly otherArgs: readonly string[]; readonly values: ReadonlyMap<string, string> } {
  const otherArgs: string[] = [];
  const values = new Map<string, string>();
  for (let index = 0; index < args.length; index += 1) {
    const word = args[index] ?? '';
    const [name = '', ...attached] = word.split('=');
    const next = args[index + 1];
    if (!names.includes(name)) {
      otherArgs.push(word);
    } else if (attached.length > 0) {
      put(values, name, attached.join('='));
    } else if (next !== undefined && !next.startsWith('--')) {
      put(values, name, next);
      index += 1;
    }
  }
  return { otherArgs, values };
}

// A list may be repeated and its values are joined; for any other flag the last value wins.
function put(values: Map<string, string>, name: string, value: string): void {
  const before = values.get(name);
  values.set(
    name,
    before === undefined || !['--allow', '--network-allow'].includes(name) ? value : `${before},${value}`,
  );
}
