/** Default headers of every reply; this CSP forbids everything, so pages override it. */
const commonHeaders = {
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), geolocation=(), microphone=()',
  'Cache-Control': 'no-store',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
};

const policyFor = (styles: string, workers: string) =>
  [
    "default-src 'none'",
    "script-src 'self'",
    `style-src ${styles}`,
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    `worker-src ${workers}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');

/** CSP of the server's own pages: files and calls of the same origin, no inline scripts, workers, frames or forms. */
export const pagePolicy = policyFor("'self'", "'none'");

/** CSP of applets: the same, plus inline styles, which terminals and editors in pages need, and workers if the manifest asks. */
export function appletPolicy({ workers }: { readonly workers: boolean }): string {
  return policyFor("'self' 'unsafe-inline'", workers ? "'self'" : "'none'");
}

/** Headers of a reply; `corsOrigin` is the origin from `cors_origins` that may read it. */
export function toHeaders(
  own: Readonly<Record<string, string>>,
  corsOrigin: string | undefined,
): Readonly<Record<string, string>> {
  return corsOrigin === undefined
    ? { ...commonHeaders, ...own }
    : { ...commonHeaders, ...own, ...corsHeaders(corsOrigin) };
}

function corsHeaders(origin: string): Readonly<Record<string, string>> {
  return {
    'Access-Control-Allow-Origin': origin,
    'Cross-Origin-Resource-Policy': 'cross-origin',
    'Access-Control-Expose-Headers': 'Mcp-Session-Id, WWW-Authenticate, Retry-After',
    Vary: 'Origin',
  };
}

/** Headers of the reply to a CORS preflight request. */
export const preflightHeaders = {
  'Access-Control-Allow-Methods': 'GET, POST, DELETE',
  'Access-Control-Allow-Headers':
    'Authorization, Content-Type, Accept, Last-Event-ID, Mcp-Session-Id, Mcp-Protocol-Version, Mcp-Method, Mcp-Name',
  'Access-Control-Max-Age': '600',
};
