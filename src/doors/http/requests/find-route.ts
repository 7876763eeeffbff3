/** A path of the server, and the handler for it. */
export interface Route<Handler> {
  /** `*` for every method; a GET route also serves HEAD. */
  readonly method: string;
  /** Segments such as `:name` match any text; the path `*` matches every path. */
  readonly path: string;
  readonly handler: Handler;
}

/** A handler with the path segments that its route names. */
export interface FoundRoute<Handler> {
  readonly handler: Handler;
  readonly params: Readonly<Record<string, string>>;
}

/** Finds the route of a request; the first one in the table wins. */
export type FindRoute<Handler> = (method: string, path: string) => FoundRoute<Handler> | undefined;

/** Creates the lookup for a table of routes. */
export function createFindRoute<Handler>(routes: readonly Route<Handler>[]): FindRoute<Handler> {
  // Most requests match as they are, without decoding and comparing segments.
  const exact = new Map(routes.map(({ method, path, handler }) => [`${method} ${path}`, handler]));
  const patterns = routes.map((route) => ({ ...route, segments: route.path.split('/') }));
  return (method, path) => {
    const wanted = method === 'HEAD' ? 'GET' : method;
    const handler = exact.get(`${wanted} ${path}`);
    if (handler !== undefined) return { handler, params: {} };
    const segments = path.split('/').map(decode);
    for (const route of patterns) {
      if (route.method !== '*' && route.method !== wanted) continue;
      const params = route.path === '*' ? {} : match(route.segments, segments);
      if (params !== undefined) return { handler: route.handler, params };
    }
    return undefined;
  };
}

function match(
  pattern: readonly string[],
  segments: readonly string[],
): Readonly<Record<string, string>> | undefined {
  if (pattern.length !== segments.length) return undefined;
  const params: Record<string, string> = {};
  for (const [index, expected] of pattern.entries()) {
    const segment = segments[index] ?? '';
    const isParam = expected.startsWith(':');
    if (isParam ? segment === '' : segment !== expected) return undefined;
    if (isParam) params[expected.slice(1)] = segment;
  }
  return params;
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
