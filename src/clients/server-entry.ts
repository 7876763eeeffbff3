import { NacreError } from '../contract/failure.ts';
import type { Client } from './clients.ts';
import { getJson, removeJson, setJson } from './edit-json.ts';
import { getToml, removeToml, setToml } from './edit-toml.ts';
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
export type EntryForm = Pick<Client, 'format' | 'path' | 'extra'>;

const name = 'nacre';

/** The entry for nacre in the configuration `text`; undefined if there is none. */
export function readEntry(text: string, form: EntryForm, file: string): FoundEntry | undefined {
  return withPosition(text, file, () => {
    const path = [...form.path, name];
    const found = form.format === 'json' ? getJson(text, path) : getToml(text, path);
    if (found === undefined) return undefined;
    const { command, args, env, url, httpUrl, serverUrl } = (found ?? {}) as Record<string, unknown>;
    const address = [url, httpUrl, serverUrl].find((one) => typeof one === 'string');
    return {
      ...(typeof address === 'string' && { address }),
      ...(typeof command === 'string' && { command }),
      ...(Array.isArray(args) && { args: args.map(String) }),
      ...(env !== null && typeof env === 'object' && { env: toTexts(env) }),
    };
  });
}

/** Returns `text` with this entry for nacre; everything else is unchanged. */
export function writeEntry(text: string, form: EntryForm, entry: ServerEntry, file: string): string {
  return withPosition(text, file, () => {
    const path = [...form.path, name];
    if (form.format === 'toml') return setToml(text, path, { ...form.extra, ...entry });
    const { env, ...values } = { ...form.extra, ...entry };
    if (getJson(text, path) === undefined) return setJson(text, path, { ...values, env });
    // Keys that the user added to the entry are kept.
    const updated = Object.entries(values).reduce(
      (all, [key, value]) => setJson(all, [...path, key], value),
      text,
    );
    return setTexts(updated, [...path, 'env'], env);
  });
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
  const remove = format === 'json' ? removeJson : removeToml;
  return withPosition(text, file, () => remove(text, [...path, name]));
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
