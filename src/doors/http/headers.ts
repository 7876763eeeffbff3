const common = {
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Permissions-Policy': 'camera=(), geolocation=(), microphone=()',
  'Cache-Control': 'no-store',
};

/** What answers without a page of their own allow: nothing. */
const nothing = "default-src 'none'; frame-ancestors 'none'";

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
  if (!headers.has('Content-Security-Policy')) headers.set('Content-Security-Policy', nothing);
  if (corsOrigin !== undefined) {
    headers.set('Access-Control-Allow-Origin', corsOrigin);
    headers.set('Cross-Origin-Resource-Policy', 'cross-origin');
    headers.set('Access-Control-Expose-Headers', 'Mcp-Session-Id, WWW-Authenticate, Retry-After');
    headers.append('Vary', 'Origin');
  }
  return answer;
}
