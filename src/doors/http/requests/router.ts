/** A path of the server, and the handler for it. */
export interface Route<Handler> {
  /** A GET route also serves HEAD. */
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

/** The lookups in a table of routes. */
export interface Router<Handler> {
  /** Finds the route of a request; the first one in the table wins. */
  find(method: string, path: string): FoundRoute<Handler> | undefined;
  /** The methods that a path accepts, for the header `Allow`; empty if no route has that path. */
  methodsAt(path: string): readonly string[];
}

/** Creates the lookups for a table of routes. */
export function createRouter<Handler>(routes: readonly Route<Handler>[]): Router<Handler> {
  // Most requests match as they are, without decoding and comparing segments.
  const exact = new Map(routes.map(({ method, path, handler }) => [`${method} ${path}`, handler]));
  const patterns = routes.map((route) => ({ ...route, segments: route.path.split('/') }));
  const matching = (path: string) => {
    const segments = path.split('/').map(decode);
    return patterns.flatMap((route) => {
      const params = route.path === '*' ? {} : match(route.segments, segments);
      return params === undefined ? [] : [{ ...route, params }];
    });
  };
  return {
    find(method, path) {
      const wanted = method === 'HEAD' ? 'GET' : method;
      const handler = exact.get(`${wanted} ${path}`);
      if (handler !== undefined) return { handler, params: {} };
      const found = matching(path).find((route) => route.method === wanted);
      return found && { handler: found.handler, params: found.params };
    },
    methodsAt(path) {
      const all = matching(path);
      // The path `*` is only a fallback: `POST /api/shell` is not a file of an applet that GET could read.
      const named = all.filter((route) => route.path !== '*');
      const methods = new Set((named.length > 0 ? named : all).map(({ method }) => method));
      return [...methods].flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
    },
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
