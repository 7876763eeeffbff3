// Where the answers of `nacre init` are stored: in the user's settings file, which one command changes for every client,
// or, if that would change what other clients do, in the entry of this client, whose variables override the file.
import { isDeepStrictEqual } from 'node:util';

/** Environment variables by name. */
export type Variables = Readonly<Record<string, string>>;

/** The values of the user's settings file, by key. */
export type FileValues = Readonly<Record<string, unknown>>;

/** An answer, as variables with the same effect. */
export interface Choice {
  readonly variables: Variables;
  /**
   * The origin of an answer: a flag or the user's answer, the existing entry, a proposal of nacre, or the settings
   * file.
   */
  readonly from: 'stated' | 'kept' | 'proposed' | 'file';
}

/** The answer for "use the value of the settings file". */
export const fromFile: Choice = { variables: {}, from: 'file' };

/** The settings that are stored together, by the variable that overrides each. */
const groups: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  programs: { NACRE_PRESET: 'preset', ALLOWED_COMMANDS: 'allowed_commands' },
  sandbox: { NACRE_SANDBOX: 'sandbox' },
  network: { NACRE_NETWORK: 'network', NACRE_NETWORK_ALLOW: 'network_allow' },
};

/** The variables that `nacre init` asks about. */
export const askedVariables: readonly string[] = Object.values(groups).flatMap((group) => Object.keys(group));

/** An answer divided into variables for the entry, and keys for the settings file; undefined removes a key. */
export interface Placed {
  readonly env: Variables;
  readonly changes: Readonly<Record<string, unknown>>;
}

/** Facts that decide where an answer is stored. */
export interface Storage {
  readonly file: FileValues;
  /** False if only the entry may be shown or written. */
  readonly canWrite: boolean;
  /** Whether the entry is for one folder; it then never changes a value that the settings file has. */
  readonly isForOneProject: boolean;
}

/** Decides where one group of answers is stored. */
export function placeChoice(
  group: 'programs' | 'sandbox' | 'network',
  { variables, from }: Choice,
  { file, canWrite, isForOneProject }: Storage,
): Placed {
  const keys = groups[group] ?? {};
  const wanted = Object.fromEntries(
    Object.entries(keys).map(([variable, key]) => [key, toFileValue(key, variables[variable])]),
  );
  const now = Object.fromEntries(Object.values(keys).map((key) => [key, toList(key, file[key])]));
  if (from === 'file' || isDeepStrictEqual(wanted, now)) return { env: {}, changes: {} };
  const isUnset = Object.values(now).every((value) => value === undefined);
  const mayChange = canWrite && (isUnset || (from === 'stated' && !isForOneProject));
  if (!mayChange) return { env: variables, changes: {} };
  const changed = Object.entries(wanted).filter(([key, value]) => !isDeepStrictEqual(value, now[key]));
  return { env: {}, changes: Object.fromEntries(changed) };
}

/** The settings in a file that `nacre init` asks about, as variables with the same effect. */
export function fileVariables(file: FileValues): Variables {
  const pairs = Object.values(groups).flatMap((group) => Object.entries(group));
  return Object.fromEntries(
    pairs.flatMap(([variable, key]) => {
      const value = file[key];
      return value === undefined || value === null ? [] : [[variable, String(value)]];
    }),
  );
}

function toFileValue(key: string, text: string | undefined): unknown {
  return text === undefined ? undefined : toList(key, text);
}

// A file may also contain a list as text: `allowed_commands: git,ls`.
function toList(key: string, value: unknown): unknown {
  if (!['allowed_commands', 'network_allow'].includes(key) || typeof value !== 'string') return value;
  return splitNames(value);
}

/** The names in a comma-separated list. */
export function splitNames(text: string): readonly string[] {
  return text.split(/[\s,]+/).filter((name) => name !== '');
}
