import {
  boundedFrom,
  type Hole,
  mayExpandIn,
  outside,
  type Piece,
  textBehind,
  textOf,
  unknown,
  type Value,
} from '../words/arg.ts';
import { limits } from '../words/limits.ts';
import { entriesOf, entryAt, entryMap, type ListEntries } from './list-entries.ts';

/** The possible values of a variable: one of several texts, or an array with its entries. */
export type Variable =
  | { readonly kind: 'text'; readonly values: readonly Value[] }
  | { readonly kind: 'list'; readonly entries: ListEntries; readonly complete: boolean };

/** A variable that the command has not set. */
export const outsideVariable: Variable = { kind: 'text', values: [[outside]] };

/** A variable about which nothing is known. */
export const unknownVariable: Variable = { kind: 'text', values: [[unknown]] };

/** Returns a variable that may have the values of `one` or of `other`. */
export function union(one: Variable, other: Variable): Variable {
  if (one.kind === 'list' && other.kind === 'list') return unionOfLists(one.entries, other.entries);
  if (one.kind === 'text' && other.kind === 'text' && isSubset(other.values, one.values)) return one;
  const values = [...valuesOf(one)];
  let same = one.kind === 'text';
  for (const value of valuesOf(other)) {
    const place = values.findIndex((current) => isEqual(current, value));
    if (place >= 0 && values[place] === value) continue;
    same = false;
    if (place < 0) values.push(value);
    else values[place] = value;
  }
  return same ? one : { kind: 'text', values: bounded(values) };
}

/** Returns true if `all` contains each of these values by identity. */
function isSubset(values: readonly Value[], all: readonly Value[]): boolean {
  return values === all || values.every((value) => all.includes(value));
}

function isEqual(one: Value, other: Value): boolean {
  if (one === other) return true;
  if (one.length === other.length && one.every((piece, index) => isSamePiece(piece, other[index])))
    return true;
  if ((one.length === 1 && other.length === 1) || beginsApart(one, other)) return false;
  return valueKey(one) === valueKey(other);
}

/** Returns true if one value begins with text and the other with a hole; a quick check that decides most cases. */
function beginsApart([mine]: Value, [theirs]: Value): boolean {
  const text = typeof mine === 'string' ? mine : theirs;
  return typeof mine !== typeof theirs && typeof text === 'string' && text !== '' && text.charCodeAt(0) !== 0;
}

function isSamePiece(mine: Piece, theirs: Piece | undefined): boolean {
  if (typeof mine !== 'object' || typeof theirs !== 'object') return mine === theirs;
  return (
    mine.hole === theirs.hole &&
    mine.text === theirs.text &&
    mine.from === theirs.from &&
    mine.outside === theirs.outside &&
    mine.made === theirs.made &&
    mine.operand === theirs.operand
  );
}

/** Applies `limits.values` and `limits.textLength`; if values are dropped, one that mentions them is added. */
export function bounded(values: readonly Value[]): readonly Value[] {
  const [only] = values;
  if (values.length === 1 && only !== undefined && !isLong(only)) return values;
  const kept = values.some(isLong)
    ? values.map((value) => (isLong(value) ? [derivedHole(value)] : value))
    : values;
  if (kept.length <= limits.values) return kept;
  const plain = kept.filter(isPlain);
  const ordered =
    plain.length === kept.length ? kept : [...kept.filter((value) => !isPlain(value)), ...plain];
  return [...ordered.slice(0, limits.values), [mention(ordered.slice(limits.values))]];
}

/** Words that are no option, no path and no name of a hidden file are dropped first. */
function isPlain(value: Value): boolean {
  return /^\w[\w.@:+,=-]*$/.test(textOf(value) ?? '-');
}

/** A hole that mentions options and paths among these values. */
function mention(values: readonly Value[]): Hole {
  const hole = takenHole(values.flat());
  if (values.every(isPlain)) return hole;
  const text = values.map((value) => value.map(textBehind).join('')).join(' ');
  return { ...hole, text: text.slice(0, 4_096), from: boundedFrom(text) };
}

/** A hole derived from a value in a way the walk does not follow; `from` records text in it that could be evaluated. */
export function derivedHole(value: Value): Hole {
  const made = value.some(isMade) ? 'any' : undefined;
  if (!value.some(mayExpandIn)) return made === undefined ? unknown : { ...unknown, made };
  const from = value.map(textBehind).join('');
  return { hole: 'unknown', text: '', from: boundedFrom(from), made };
}

/** Like `derivedHole`, and keeps text that may become an option, as `--x` in `[[ y--x =~ y(.*) ]]` does. */
export function takenHole(value: Value): Hole {
  const hole = derivedHole(value);
  const text = value.map(textBehind).join(' ');
  return hole.made === undefined && /(?:^|\W)-|--/.test(text)
    ? { ...hole, from: boundedFrom(text), made: 'parts' }
    : hole;
}

function isMade(piece: Piece): boolean {
  return typeof piece === 'object' && piece.made !== undefined;
}

function isLong(value: Value): boolean {
  if (value.length > limits.pieces) return true;
  let length = 0;
  for (const piece of value) if (typeof piece === 'string') length += piece.length;
  return length > limits.textLength;
}

/** All possible values of a variable, under any key. */
export function everyValue(variable: Variable): readonly Value[] {
  return variable.kind === 'text' ? variable.values : variable.entries.values;
}

/** The possible values of a plain `$name`. */
export function valuesOf(variable: Variable): readonly Value[] {
  if (variable.kind === 'text') return variable.values;
  const first = entryAt(variable.entries, '0');
  if (first !== undefined && variable.complete) return [first];
  return [[variable.entries.mayExpand ? derivedHole(variable.entries.values.flat()) : unknown]];
}

function unionOfLists(one: ListEntries, other: ListEntries): Variable {
  const entries = entryMap(one);
  for (const [key, value] of entryMap(other)) {
    const same = entries.has(key) && valueKey(entries.get(key) ?? []) === valueKey(value);
    entries.set(entries.has(key) && !same ? `${key}~${entries.size}` : key, value);
  }
  return { kind: 'list', entries: entriesOf(entries), complete: false };
}

/** A string that is equal for equal values. */
export function valueKey(value: Value): string {
  let key = '';
  for (const piece of value)
    key +=
      typeof piece === 'string'
        ? piece
        : `\0${piece.hole} ${piece.text} ${piece.outside ?? ''} ${piece.made ?? ''} ${piece.operand ?? ''} ${piece.from ?? ''}\0`;
  return key;
}

/** The only possible text of a variable, if it is known. */
export function textIfKnown(variable: Variable): string | undefined {
  const [only, ...others] = valuesOf(variable);
  return only !== undefined && others.length === 0 ? textOf(only) : undefined;
}
