/** What every answer says, as far as it says nothing else; without a page of its own it allows nothing. */
const common = {
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), geolocation=(), microphone=()',
  'Cache-Control': 'no-store',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
};

/** What a page allows: its own files and calls, no inline scripts, no frames, no forms. */
const policyFor = (styles: string) =>
  [
    "default-src 'none'",
    "script-src 'self'",
    `style-src ${styles}`,
    "img-src 'self' data:",
    "font-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');

/** What the server's own pages allow. */
export const pagePolicy = policyFor("'self'");

/** What applets allow: terminals and editors in pages write styles of their own. */
export const appletPolicy = policyFor("'self' 'unsafe-inline'");

/** Gives an answer the headers that every answer has; a policy of its own stays. */
export function secure(answer: Response, corsOrigin?: string | undefined): Response {
  const { headers } = answer;
  for (const [name, value] of Object.entries(common)) if (!headers.has(name)) headers.set(name, value);
  if (corsOrigin !== undefined) {
    for (const [name, value] of Object.entries(toCors(corsOrigin))) headers.set(name, value);
    headers.append('Vary', 'Origin');
  }
  return answer;
}

/** The headers of an answer that has none of its own. */
export function plainHeaders(corsOrigin: string | undefined): Readonly<Record<string, string>> {
  return corsOrigin === undefined ? common : { ...common, ...toCors(corsOrigin), Vary: 'Origin' };
}

function toCors(origin: string): Readonly<Record<string, string>> {
  return {
    'Access-Control-Allow-Origin': origin,
    'Cross-Origin-Resource-Policy': 'cross-origin',
    'Access-Control-Expose-Headers': 'Mcp-Session-Id, WWW-Authenticate, Retry-After',
  };
}
