import { mayExpandIn, type Value } from '../words/arg.ts';

/** The entries of an array in order. If `keys` is undefined they are 0, 1, 2, …, so that appending is a plain copy. */
export interface ListEntries {
  readonly values: readonly Value[];
  readonly keys: readonly string[] | undefined;
  /** True if some entry contains text that could be evaluated again. */
  readonly mayExpand: boolean;
}

/** The entries of `a=()`. */
export const noEntries: ListEntries = { values: [], keys: undefined, mayExpand: false };

/** Appends values, as `a+=(…)` does, to entries with the keys 0, 1, 2, … */
export function counted(old: ListEntries, values: readonly Value[]): ListEntries {
  const mayExpand = old.mayExpand || values.some(hasText);
  return { values: old.values.concat(values), keys: undefined, mayExpand };
}

function hasText(value: Value): boolean {
  return value.some(mayExpandIn);
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
  return { values, keys: inOrder ? undefined : keys, mayExpand: values.some(hasText) };
}
