/** What is asked of the headers of a request; names are asked for in lower case. */
export type RequestHeaders = Pick<Headers, 'get' | 'has'>;

/** Reads headers as they came: the web's kind of them would all be checked and copied first. */
export function readHeaders(rawHeaders: readonly string[]): RequestHeaders {
  const get = (wanted: string) => {
    const values: string[] = [];
    for (let at = 0; at < rawHeaders.length; at += 2)
      if (rawHeaders[at]?.toLowerCase() === wanted) values.push(rawHeaders[at + 1] ?? '');
    return values.length === 0 ? null : values.join(wanted === 'cookie' ? '; ' : ', ');
  };
  return { get, has: (wanted) => get(wanted) !== null };
}

/** The headers of a request one by one, as they came. */
export function toPairs(rawHeaders: readonly string[]): [string, string][] {
  return rawHeaders.flatMap((name, index) =>
    index % 2 === 0 ? [[name, rawHeaders[index + 1] ?? ''] as [string, string]] : [],
  );
}
