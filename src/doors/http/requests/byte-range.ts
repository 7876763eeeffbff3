/** A part of a file, with both ends included, as in a `Range` header. */
export interface ByteRange {
  readonly first: number;
  readonly last: number;
}

/**
 * Reads a `Range` header: undefined if the whole file is to be sent, also for several ranges and for units other than bytes, which
 * a server may ignore; null if the range is outside of the file.
 */
export function parseRange(header: string | null, size: number): ByteRange | undefined | null {
  const [, from, to] = /^bytes=(\d*)-(\d*)$/.exec(header ?? '') ?? [];
  if (from === undefined || to === undefined || (from === '' && to === '')) return undefined;
  const last = from === '' || to === '' ? size - 1 : Math.min(Number(to), size - 1);
  const first = from === '' ? Math.max(0, size - Number(to)) : Number(from);
  // A range that ends before its start is not valid, so it is ignored.
  if (from !== '' && to !== '' && Number(to) < Number(from)) return undefined;
  return first > last ? null : { first, last };
}
