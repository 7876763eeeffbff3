/** The part of the web's `Headers` that request handling needs; names are passed in lower case. */
export type RequestHeaders = Pick<Headers, 'get' | 'has'>;

/** Looks headers up in `rawHeaders` directly; building a `Headers` object would validate and copy every one first. */
export function readHeaders(rawHeaders: readonly string[]): RequestHeaders {
  const get = (wanted: string) => {
    const values: string[] = [];
    for (let at = 0; at < rawHeaders.length; at += 2)
      if (rawHeaders[at]?.toLowerCase() === wanted) values.push(rawHeaders[at + 1] ?? '');
    return values.length === 0 ? null : values.join(wanted === 'cookie' ? '; ' : ', ');
  };
  return { get, has: (wanted) => get(wanted) !== null };
}

/** The name and value of each header, in the order in which they arrived. */
export function toPairs(rawHeaders: readonly string[]): [string, string][] {
  return rawHeaders.flatMap((name, index) =>
    index % 2 === 0 ? [[name, rawHeaders[index + 1] ?? ''] as [string, string]] : [],
  );
}
