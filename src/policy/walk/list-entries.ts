import { mayExpandIn, textBehind, type Value } from '../words/arg.ts';

/** The entries of an array in order. If `keys` is undefined they are 0, 1, 2, …, so that appending is a plain copy. */
export interface ListEntries {
  readonly values: readonly Value[];
  readonly keys: readonly string[] | undefined;
  /** True if some entry contains text that could be evaluated again. */
  readonly mayExpand: boolean;
  /** True if some entry contains a dash, so that part of it may be an option. */
  readonly hasDash: boolean;
}

/** The entries of `a=()`. */
export const noEntries: ListEntries = { values: [], keys: undefined, mayExpand: false, hasDash: false };

/** Appends values, as `a+=(…)` does, to entries with the keys 0, 1, 2, … */
export function counted(old: ListEntries, values: readonly Value[]): ListEntries {
  const mayExpand = old.mayExpand || values.some(hasText);
  const hasDash = old.hasDash || values.some(containsDash);
  return { values: old.values.concat(values), keys: undefined, mayExpand, hasDash };
}

function hasText(value: Value): boolean {
  return value.some(mayExpandIn);
}

function containsDash(value: Value): boolean {
  return value.some((piece) => textBehind(piece).includes('-'));
}

/** Returns the entry with this key. */
export function entryAt({ values, keys }: ListEntries, key: string): Value | undefined {
  if (keys !== undefined) return values[keys.indexOf(key)];
  const index = Number(key);
  return String(index) === key ? values[index] : undefined;
}

/** Returns the entries as a mutable map by key. */
export function entryMap({ values, keys }: ListEntries): Map<string, Value> {
  return new Map(values.map((value, index) => [keys?.[index] ?? String(index), value]));
}

/** Converts a map back to entries. */
export function entriesOf(map: ReadonlyMap<string, Value>): ListEntries {
  const keys = [...map.keys()];
  const inOrder = keys.every((key, at) => key === String(at));
  const values = [...map.values()];
  return {
    ...{ values, keys: inOrder ? undefined : keys },
    ...{ mayExpand: values.some(hasText), hasDash: values.some(containsDash) },
  };
}
