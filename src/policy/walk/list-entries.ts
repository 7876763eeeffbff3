import { mayExpandIn, type Value } from '../words/arg.ts';

/** The entries of a list in their order; without keys they are 0, 1, 2, …, which makes appending a plain copy. */
export interface ListEntries {
  readonly values: readonly Value[];
  readonly keys: readonly string[] | undefined;
  /** Whether some of them hold text that could be evaluated once more. */
  readonly mayExpand: boolean;
}

/** No entries. */
export const noEntries: ListEntries = { values: [], keys: undefined, mayExpand: false };

/** Entries with others behind them, all counted from 0. */
export function counted(old: ListEntries, values: readonly Value[]): ListEntries {
  const mayExpand = old.mayExpand || values.some(hasText);
  return { values: old.values.concat(values), keys: undefined, mayExpand };
}

function hasText(value: Value): boolean {
  return value.some(mayExpandIn);
}

/** The entry with this key. */
export function entryAt({ values, keys }: ListEntries, key: string): Value | undefined {
  if (keys !== undefined) return values[keys.indexOf(key)];
  const index = Number(key);
  return String(index) === key ? values[index] : undefined;
}

/** The entries by key, to change. */
export function entryMap({ values, keys }: ListEntries): Map<string, Value> {
  return new Map(values.map((value, index) => [keys?.[index] ?? String(index), value]));
}

/** Entries as they stand in a map. */
export function entriesOf(map: ReadonlyMap<string, Value>): ListEntries {
  const keys = [...map.keys()];
  const inOrder = keys.every((key, at) => key === String(at));
  const values = [...map.values()];
  return { values, keys: inOrder ? undefined : keys, mayExpand: values.some(hasText) };
}
