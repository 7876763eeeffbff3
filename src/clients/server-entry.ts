import { NacreError } from '../contract/failure.ts';
import type { Client } from './clients.ts';
import { getJson, removeJson, setJson } from './edit-json.ts';
import { getToml, removeToml, setToml } from './edit-toml.ts';
import { getYamlItem, removeYamlItem, setYamlItem } from './edit-yaml.ts';
import { TextFault } from './text-edits.ts';

/** The command line and environment with which a client starts nacre. */
export interface ServerEntry {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** An existing entry; parts of an unexpected type are left out. */
export interface FoundEntry extends Partial<ServerEntry> {
  /** The URL, for an entry that connects to a server instead of starting one. */
  readonly address?: string;
}

/** The parts of a `Client`, or of `anyClient`, that determine how it stores its servers. */
export type EntryForm = Pick<Client, 'format' | 'path' | 'words' | 'extra'>;

const name = 'nacre';

/** The entry for nacre in the configuration `text`; undefined if there is none. */
export function readEntry(text: string, form: EntryForm, file: string): FoundEntry | undefined {
  return withPosition(text, file, () => {
    const found = findEntry(text, form);
    if (found === undefined) return undefined;
    const { url, httpUrl, serverUrl, transport, ...own } = toRecord(found);
    const { command, args, env, environment } = { ...toRecord(transport), ...own };
    const [program, words] = Array.isArray(command) ? [command[0], command.slice(1)] : [command, args];
    const address = [url, httpUrl, serverUrl, toRecord(transport).url].find((one) => typeof one === 'string');
    const variables = env ?? environment;
    return {
      ...(typeof address === 'string' && { address }),
      ...(typeof program === 'string' && { command: program }),
      ...(Array.isArray(words) && { args: words.map(String) }),
      ...(isRecord(variables) && { env: toTexts(variables) }),
    };
  });
}

function findEntry(text: string, { format, path }: EntryForm): unknown {
  if (format === 'yaml') return getYamlItem(text, path.join('.'), name);
  return format === 'json' ? getJson(text, [...path, name]) : getToml(text, [...path, name]);
}

function toRecord(value: unknown): Readonly<Record<string, unknown>> {
  return isRecord(value) ? value : {};
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

/** Returns `text` with this entry for nacre; everything else is unchanged. */
export function writeEntry(text: string, form: EntryForm, entry: ServerEntry, file: string): string {
  return withPosition(text, file, () => {
    const path = [...form.path, name];
    const { variables, ...words } = toWords(form, entry);
    const [key, env] = variables;
    if (form.format === 'toml') return setToml(text, path, { ...form.extra, ...words, [key]: env });
    if (form.format === 'yaml')
      return setYamlItem(text, form.path.join('.'), name, { ...form.extra, ...words, [key]: env });
    const before = getJson(text, path);
    if (before === undefined) return setJson(text, path, { ...form.extra, ...words, [key]: env });
    // Keys that the user added to the entry, or changed in what nacre wrote besides the command, are kept.
    const extra = Object.entries(form.extra).filter(
      ([one, value]) => typeof value === 'string' || !(one in toRecord(before)),
    );
    // Cline moves the command of an entry that it writes itself into `transport`.
    const base = removeJson(text, [...path, 'transport']);
    const updated = [...extra, ...Object.entries(words)].reduce(
      (all, [one, value]) => setJson(all, [...path, one], value),
      base,
    );
    return setTexts(updated, [...path, key], env);
  });
}

function toWords({ words }: EntryForm, { command, args, env }: ServerEntry) {
  return words === 'one-list'
    ? { command: [command, ...args], variables: ['environment', env] as const }
    : { command, args, variables: ['env', env] as const };
}

// Sets one key at a time, because there may be comments between them.
function setTexts(text: string, path: readonly string[], values: Readonly<Record<string, string>>): string {
  const before = getJson(text, path);
  if (before === null || typeof before !== 'object' || Array.isArray(before))
    return setJson(text, path, values);
  const gone = Object.keys(before).filter((key) => !Object.hasOwn(values, key));
  const kept = gone.reduce((all, key) => removeJson(all, [...path, key]), text);
  return Object.entries(values).reduce((all, [key, value]) => setJson(all, [...path, key], value), kept);
}

/** Returns `text` without an entry for nacre. */
export function removeEntry(text: string, { format, path }: EntryForm, file: string): string {
  return withPosition(text, file, () => {
    if (format === 'yaml') return removeYamlItem(text, path.join('.'), name);
    return format === 'json' ? removeJson(text, [...path, name]) : removeToml(text, [...path, name]);
  });
}

function toTexts(env: object): Record<string, string> {
  return Object.fromEntries(Object.entries(env).map(([key, value]) => [key, String(value)]));
}

function withPosition<T>(text: string, file: string, step: () => T): T {
  try {
    return step();
  } catch (cause) {
    if (!(cause instanceof TextFault)) throw cause;
    const before = text.slice(0, cause.at).split('\n');
    const place = `${before.length}:${(before.at(-1)?.length ?? 0) + 1}`;
    throw new NacreError('settings_invalid', `${file}:${place} cannot be edited: ${cause.message}.`, {
      hint: 'Fix the file there and run nacre init again; nothing was written. --print shows what to add by hand.',
      cause,
    });
  }
}
