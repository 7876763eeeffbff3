// Edits a TOML text without changing anything else. Tables are written under their own header. A table in another form
// is refused, and the error asks the user to change it, because rewriting it could lose parts.
import { isDeepStrictEqual } from 'node:util';
import { lineEnd, lineStart, newlineOf, splice, TextFault } from './text-edits.ts';
import {
  readInlineTable,
  readTomlLines,
  readTomlString,
  type TomlHeader,
  type TomlPair,
} from './toml-lines.ts';

/** A value that `setToml` writes. */
export type TomlValue = string | boolean | readonly string[] | Readonly<Record<string, string>>;

/** Sets keys of the table at `path`; a missing table is added at the end of the text. */
export function setToml(
  text: string,
  path: readonly string[],
  values: Readonly<Record<string, TomlValue>>,
): string {
  if (findTable(text, path) === undefined) return addTable(text, path, values);
  return Object.entries(values).reduce((all, [key, value]) => setKey(all, path, key, value), text);
}

/** Removes the table at `path` and all tables below it. */
export function removeToml(text: string, path: readonly string[]): string {
  const found = findTable(text, path);
  if (found === undefined) return text;
  const sections = toSections(text).filter(
    ({ header }) => header !== undefined && isBelow(header.path, path),
  );
  return sections.reduceRight((all, { from, to }) => dropLines(all, from, to), text);
}

/** The strings, booleans, lists of strings and tables of strings in the table at `path`; undefined if there is no table. */
export function getToml(
  text: string,
  path: readonly string[],
): Readonly<Record<string, TomlValue>> | undefined {
  const table = findTable(text, path);
  if (table === undefined) return undefined;
  const own = table.pairs.map((pair) => [pair.path.join('.'), readValue(text, pair)] as const);
  const below = toSections(text)
    .filter(({ header }) => header?.path.length === path.length + 1 && isBelow(header.path, path))
    .map(({ header, pairs }) => [header?.path.at(-1) ?? '', toTexts(text, pairs)] as const);
  return Object.fromEntries(
    [...own, ...below].filter((pair): pair is [string, TomlValue] => pair[1] !== undefined),
  );
}

interface Section {
  readonly header: TomlHeader | undefined;
  readonly pairs: readonly TomlPair[];
  /** From the start of the header's line to the end of the last pair's line. */
  readonly from: number;
  readonly to: number;
}

function toSections(text: string): readonly Section[] {
  const sections: { header: TomlHeader | undefined; pairs: TomlPair[] }[] = [
    { header: undefined, pairs: [] },
  ];
  for (const line of readTomlLines(text)) {
    if (line.kind === 'header') sections.push({ header: line, pairs: [] });
    else sections.at(-1)?.pairs.push(line);
  }
  return sections.map(({ header, pairs }) => ({
    header,
    pairs,
    from: lineStart(text, header?.start ?? 0),
    to: lineEnd(text, pairs.at(-1)?.valueEnd ?? header?.end ?? 0),
  }));
}

function findTable(text: string, path: readonly string[]): Section | undefined {
  const sections = toSections(text);
  for (const { header, pairs } of sections) {
    const base = header?.path ?? [];
    if (header?.isList && isBelow(path, base)) throw unusual(header.start, base, 'a list of tables');
    const other = pairs.find((pair) => {
      const whole = [...base, ...pair.path];
      return isBelow(path, whole) || (isBelow(whole, path) && base.length < path.length);
    });
    if (other !== undefined) throw unusual(other.start, [...base, ...other.path], 'a key');
  }
  const found = sections.filter(({ header }) => header !== undefined && isSame(header.path, path));
  const [first, second] = found;
  if (second?.header !== undefined)
    throw new TextFault(second.header.start, `the table ${path.join('.')} occurs twice`);
  if (first !== undefined) return first;
  const below = sections.find(({ header }) => header !== undefined && isBelow(header.path, path));
  if (below?.header === undefined) return undefined;
  return { header: undefined, pairs: [], from: below.from, to: below.from };
}

function unusual(at: number, path: readonly string[], form: string): TextFault {
  return new TextFault(
    at,
    `${path.join('.')} is written as ${form}; write it as a table under its own header`,
  );
}

function addTable(
  text: string,
  path: readonly string[],
  values: Readonly<Record<string, TomlValue>>,
): string {
  const newline = newlineOf(text);
  const lines = [`[${path.map(toKey).join('.')}]`, ...Object.entries(values).map(toLine)];
  const gap = text === '' ? '' : text.endsWith('\n') ? newline : `${newline}${newline}`;
  return `${text}${gap}${lines.join(newline)}${newline}`;
}

function setKey(text: string, path: readonly string[], key: string, value: TomlValue): string {
  if (typeof value === 'object' && !Array.isArray(value)) {
    const below = toSections(text).find(({ header }) => header && isSame(header.path, [...path, key]));
    if (below) return setBelow(text, [...path, key], value as Readonly<Record<string, string>>);
  }
  const table = findTable(text, path);
  if (table?.header === undefined) {
    // Only its subtables have headers so far; its own header goes before them.
    const at = table?.from ?? 0;
    const newline = newlineOf(text);
    const lines = [`[${path.map(toKey).join('.')}]`, toLine([key, value])];
    return splice(text, at, at, `${lines.join(newline)}${newline}${newline}`);
  }
  const own = table.pairs.find((pair) => isSame(pair.path, [key]));
  const dotted = table.pairs.find((pair) => pair.path.length > 1 && pair.path[0] === key);
  if (dotted !== undefined) throw unusual(dotted.start, dotted.path, 'a dotted key');
  if (own === undefined) return addLine(text, table, toLine([key, value]));
  if (isDeepStrictEqual(readValue(text, own), value)) return text;
  return splice(text, own.valueStart, own.valueEnd, toTomlText(value));
}

/** Replaces the table of strings at `path`, one key at a time. */
function setBelow(text: string, path: readonly string[], values: Readonly<Record<string, string>>): string {
  const gone = (findTable(text, path)?.pairs ?? []).filter(
    ({ path: [key = ''] }) => !Object.hasOwn(values, key),
  );
  const kept = gone.reduceRight(
    (all, { start, valueEnd }) => splice(all, lineStart(all, start), lineEnd(all, valueEnd), ''),
    text,
  );
  return Object.entries(values).reduce((all, [key, value]) => setKey(all, path, key, value), kept);
}

function addLine(text: string, { to }: Section, line: string): string {
  const newline = newlineOf(text);
  const gap = text.slice(0, to).endsWith('\n') ? '' : newline;
  return splice(text, to, to, `${gap}${line}${newline}`);
}

// The blank line before the table is removed with it.
function dropLines(text: string, from: number, to: number): string {
  const [blank = ''] = /(?:^|\n)(\r?\n)$/.test(text.slice(0, from))
    ? (/\r?\n$/.exec(text.slice(0, from)) ?? [])
    : [];
  const isApart = /^(?:[ \t]*\r?\n|$)/.test(text.slice(to));
  return splice(text, isApart ? from - blank.length : from, to, '');
}

function readValue(text: string, { valueStart, valueEnd }: TomlPair): TomlValue | undefined {
  const raw = text.slice(valueStart, valueEnd);
  if (raw.startsWith('{')) return toTexts(text, readInlineTable(text, valueStart));
  if (raw === 'true' || raw === 'false') return raw === 'true';
  return raw.startsWith('[') ? readList(raw) : readTomlString(raw);
}

function readList(raw: string): readonly string[] | undefined {
  const items = [
    ...raw.matchAll(
      /#[^\n]*|"""[\s\S]*?(?<!\\)(?:\\\\)*"{3,5}|'''[\s\S]*?'{3,5}|"(?:[^"\\\r\n]|\\[^\r\n])*"|'[^'\r\n]*'|[^\s,[\]"'#]+/g,
    ),
  ]
    .map(([item]) => item)
    .filter((item) => !item.startsWith('#'))
    .map(readTomlString);
  return items.every((item) => item !== undefined) ? items : undefined;
}

function toTexts(text: string, pairs: readonly TomlPair[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    pairs.flatMap((pair) => {
      const raw = text.slice(pair.valueStart, pair.valueEnd);
      return /^[[{]/.test(raw) ? [] : [[pair.path.join('.'), readTomlString(raw) ?? raw]];
    }),
  );
}

function toLine([key, value]: readonly [string, TomlValue]): string {
  return `${toKey(key)} = ${toTomlText(value)}`;
}

function toTomlText(value: TomlValue): string {
  if (typeof value === 'string') return quote(value);
  if (typeof value === 'boolean') return String(value);
  if (Array.isArray(value)) return `[${value.map(quote).join(', ')}]`;
  const pairs = Object.entries(value).map(([key, one]) => `${toKey(key)} = ${quote(one)}`);
  return pairs.length === 0 ? '{}' : `{ ${pairs.join(', ')} }`;
}

function toKey(key: string): string {
  return /^[A-Za-z0-9_-]+$/.test(key) ? key : quote(key);
}

// JSON escapes are valid in TOML; only DEL needs an escape in TOML but not in JSON.
function quote(text: string): string {
  return JSON.stringify(text).replaceAll('\u007f', '\\u007F');
}

function isSame(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && isBelow(one, other);
}

/** Whether `path` equals `top` or is below it. */
function isBelow(path: readonly string[], top: readonly string[]): boolean {
  return top.every((key, index) => path[index] === key);
}
