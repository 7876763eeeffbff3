// Edits the text of a settings file. Only the lines of the changed value change: comments, order, indentation and line
// endings stay. Every edit is checked by parsing the result, so an unusual file is refused instead of damaged.
import { isMap, isScalar, isSeq, type Pair, parseDocument, type YAMLSeq } from 'yaml';
import { NacreError } from '../contract/failure.ts';
import { toFlowText } from './to-flow-text.ts';

/** The plain values of a settings file by key; empty for a file without settings. */
export function readValues(text: string): Readonly<Record<string, unknown>> {
  const value: unknown = parse(text).toJS();
  return value === null || typeof value !== 'object' ? {} : (value as Record<string, unknown>);
}

/** Sets one key to a value, which is written on one line. */
export function setValue(text: string, key: string, value: unknown): string {
  if (JSON.stringify(readValues(text)[key]) === JSON.stringify(value)) return text;
  const pair = findPair(text, key);
  const edited =
    pair === undefined
      ? addLines(text, [`${key}: ${toFlowText(value)}`])
      : replaceValue(text, pair, toFlowText(value));
  return checked(edited, { ...readValues(text), [key]: value });
}

/** Removes one key with its value. */
export function removeKey(text: string, key: string): string {
  const pair = findPair(text, key);
  if (pair === undefined) return text;
  const from = lineStart(text, startOf(pair.key));
  const end = Math.max(endOf(pair.value), endOf(pair.key));
  const { [key]: _, ...others } = readValues(text);
  return checked(text.slice(0, from) + text.slice(lineAfter(text, end)), others);
}

/** Sets several keys; undefined removes one, and a list that only grows keeps its form. */
export function setValues(text: string, changes: Readonly<Record<string, unknown>>): string {
  return Object.entries(changes).reduce((all, [key, value]) => {
    if (value === undefined) return removeKey(all, key);
    const before = toItems(readValues(all)[key]);
    const grows = Array.isArray(value) && before.every((item, index) => item === value[index]);
    return grows && before.length > 0
      ? addItems(all, key, value.slice(before.length))
      : setValue(all, key, value);
  }, text);
}

/** Adds items to a list: after the last one, or as a new key. */
export function addItems(text: string, key: string, items: readonly unknown[]): string {
  return items.reduce<string>((all, item) => addItem(all, key, item), text);
}

/** Removes the items of a list for which `isGone` is true. */
export function removeItems(text: string, key: string, isGone: (item: unknown) => boolean): string {
  const before = toItems(readValues(text)[key]);
  const left = before.filter((item) => !isGone(item));
  if (left.length === before.length) return text;
  const list = findPair(text, key)?.value;
  const isBlock = isSeq(list) && !list.flow;
  if (!isBlock || left.length === 0) return setValue(text, key, left);
  const edited = [...before.keys()]
    .reverse()
    .reduce((all, index) => (isGone(before[index]) ? removeLines(all, list, index) : all), text);
  return checked(edited, { ...readValues(text), [key]: left });
}

function addItem(text: string, key: string, item: unknown): string {
  const values = readValues(text);
  const pair = findPair(text, key);
  const items = toItems(values[key]);
  const expected = { ...values, [key]: [...items, item] };
  const list = pair?.value;
  if (pair === undefined && typeof item === 'object')
    return checked(addLines(text, [`${key}:`, `  - ${toFlowText(item)}`]), expected);
  if (!isSeq(list) || list.items.length === 0) return setValue(text, key, expected[key]);
  const end = endOf(list.items.at(-1));
  if (list.flow) return checked(insert(text, end, `, ${toFlowText(item)}`), expected);
  const indent = ' '.repeat(list.range ? list.range[0] - lineStart(text, list.range[0]) : 0);
  return checked(insertLine(text, end, `${indent}- ${toFlowText(item)}`), expected);
}

// A list may also be written as text: `allowed_commands: git,ls`.
function toItems(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  if (typeof value !== 'string') return [];
  return value
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}

function replaceValue(text: string, { key, value }: Pair<unknown, unknown>, put: string): string {
  const colon = text.indexOf(':', endOf(key));
  const end = isMap(value) || isSeq(value) || isScalar(value) ? endOf(value) : colon + 1;
  const isBlockEnd = text[end - 1] === '\n';
  return `${text.slice(0, colon + 1)} ${put}${isBlockEnd ? newlineOf(text) : ''}${text.slice(Math.max(end, colon + 1))}`;
}

function removeLines(text: string, list: YAMLSeq, index: number): string {
  const item = list.items[index];
  const from = lineStart(text, startOf(item));
  return text.slice(0, from) + text.slice(lineAfter(text, endOf(item)));
}

function addLines(text: string, lines: readonly string[]): string {
  const newline = newlineOf(text);
  const lead = text === '' || text.endsWith('\n') ? '' : newline;
  return `${text}${lead}${lines.map((line) => `${line}${newline}`).join('')}`;
}

function insertLine(text: string, after: number, line: string): string {
  const at = lineAfter(text, after);
  const newline = newlineOf(text);
  return text[at - 1] === '\n'
    ? insert(text, at, `${line}${newline}`)
    : insert(text, at, `${newline}${line}`);
}

function insert(text: string, at: number, put: string): string {
  return text.slice(0, at) + put + text.slice(at);
}

/** The start of the first line after position `at`, which may itself be the start of a line. */
function lineAfter(text: string, at: number): number {
  if (text[at - 1] === '\n') return at;
  const end = text.indexOf('\n', at);
  return end < 0 ? text.length : end + 1;
}

function lineStart(text: string, at: number): number {
  return text.lastIndexOf('\n', at - 1) + 1;
}

function newlineOf(text: string): string {
  return text.includes('\r\n') ? '\r\n' : '\n';
}

function startOf(node: unknown): number {
  return (node as { range?: readonly number[] | null } | null)?.range?.[0] ?? 0;
}

function endOf(node: unknown): number {
  return (node as { range?: readonly number[] | null } | null)?.range?.[1] ?? 0;
}

function findPair(text: string, key: string): Pair<unknown, unknown> | undefined {
  const { contents } = parse(text);
  if (!isMap(contents)) return undefined;
  return contents.items.find((pair) => isScalar(pair.key) && pair.key.value === key);
}

function parse(text: string) {
  const document = parseDocument(text, { prettyErrors: false });
  if (document.errors.length > 0) throw cannotEdit(document.errors[0]?.message ?? 'it is not valid YAML');
  return document;
}

function checked(text: string, expected: Readonly<Record<string, unknown>>): string {
  const sorted = (value: Readonly<Record<string, unknown>>) => JSON.stringify(Object.entries(value).sort());
  if (sorted(readValues(text)) === sorted(expected)) return text;
  throw cannotEdit('its YAML is written in a form that nacre does not edit');
}

function cannotEdit(reason: string): NacreError {
  return new NacreError('settings_invalid', `The settings file cannot be edited: ${reason}.`, {
    hint: 'Edit it by hand; nothing was written.',
  });
}
