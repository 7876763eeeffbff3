// The console's files, as `scripts/build.mjs` made them: their names contain digests, so browsers may cache them
// forever; each file is precompressed with brotli and gzip. They are read once.
import { existsSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { HttpProblem } from '../requests/problem.ts';
import type { RequestHeaders } from '../requests/raw-headers.ts';
import type { Reply } from '../requests/raw-http.ts';

const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "worker-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  'trusted-types nacre-worker',
].join('; ');

const types: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
};
const encodings = [
  ['br', '.br'],
  ['gzip', '.gz'],
] as const;

// The build puts all code into one folder with `console` in it; from the sources it is in `dist`.
const folder = ['./console', '../../../../dist/console']
  .map((path) => fileURLToPath(new URL(path, import.meta.url)))
  .find((path) => existsSync(join(path, 'index.html')));

const kept = new Map<string, Buffer | undefined>();

function read(name: string): Buffer | undefined {
  if (!kept.has(name))
    kept.set(name, folder && existsSync(join(folder, name)) ? readFileSync(join(folder, name)) : undefined);
  return kept.get(name);
}

/** Serves the page, which is the same at every address of the console. */
export function serveConsolePage(headers: RequestHeaders): Reply {
  return toReply('index.html', headers, { 'Cache-Control': 'no-store' });
}

/** Serves a file of the console with a digest in its name. */
export function serveConsoleFile(name: string, headers: RequestHeaders): Reply {
  if (!/^[a-z]+-[A-Z0-9]{8}\.(?:css|js)$/.test(name)) throw noFile(name);
  return toReply(name, headers, { 'Cache-Control': 'public, max-age=31536000, immutable' });
}

function toReply(name: string, headers: RequestHeaders, more: Reply['headers']): Reply {
  const accepted = (headers.get('accept-encoding') ?? '').split(',').map((one) => one.trim().split(';')[0]);
  const own = {
    'Content-Type': types[extname(name)] ?? '',
    'Content-Security-Policy': policy,
    Vary: 'Accept-Encoding',
    ...more,
  };
  for (const [encoding, suffix] of encodings) {
    const packed = accepted.includes(encoding) ? read(`${name}${suffix}`) : undefined;
    if (packed) return { status: 200, headers: { ...own, 'Content-Encoding': encoding }, body: packed };
  }
  const body = read(name);
  if (!body) throw noFile(name);
  return { status: 200, headers: own, body };
}

function noFile(name: string): HttpProblem {
  return new HttpProblem(
    404,
    `The console has no file ${JSON.stringify(name.slice(0, 60))}; reload the page.`,
  );
}
