import { constants } from 'node:fs';
import { type FileHandle, open, realpath } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { parseRange } from '../requests/byte-range.ts';
import { HttpProblem } from '../requests/problem.ts';
import type { RequestHeaders } from '../requests/raw-headers.ts';
import type { FileBody, Reply } from '../requests/raw-http.ts';

const contentTypes: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.gif': 'image/gif',
  '.html': 'text/html; charset=utf-8',
  '.ico': 'image/x-icon',
  '.jpg': 'image/jpeg',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.map': 'application/json; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.webp': 'image/webp',
  '.woff2': 'font/woff2',
};
const plainPath = /^(?:\/[\w-][\w.-]*)+$/;

/**
 * Serves a file below `folder`, or the requested range of it, as a stream; 404 for a file that is outside or hidden.
 */
export async function serveFile(
  folder: string,
  path: string,
  { policy, headers }: { readonly policy: string; readonly headers: RequestHeaders },
): Promise<Reply> {
  const type = contentTypes[extname(path).toLowerCase()];
  const file = plainPath.test(path) && type !== undefined ? await openWithin(folder, path) : undefined;
  if (file === undefined || type === undefined) throw noFile(path);
  const own = { 'Content-Type': type, 'Content-Security-Policy': policy, ...cacheHeaders(file) };
  const reply = toReply(file, headers, own);
  if (typeof reply.body === 'string') await file.handle.close();
  return reply;
}

/** The error for a path at which there is no file to serve. */
export function noFile(path: string): HttpProblem {
  const name = JSON.stringify(path.slice(0, 100));
  return new HttpProblem(404, `There is no file ${name}; hidden files and unknown types are not served.`);
}

interface OpenFile {
  readonly handle: FileHandle;
  readonly size: number;
  readonly etag: string;
}

// The browser revalidates each time, and gets 304 if the file is unchanged: an applet can be edited while it is open.
function cacheHeaders({ etag }: OpenFile): Reply['headers'] {
  return { ETag: etag, 'Accept-Ranges': 'bytes', 'Cache-Control': 'no-cache' };
}

function toReply(file: OpenFile, headers: RequestHeaders, own: Reply['headers']): Reply {
  const { size, etag } = file;
  if (matches(headers.get('if-none-match'), etag)) return { status: 304, headers: own, body: '' };
  const ifRange = headers.get('if-range');
  const isSame = ifRange === null || ifRange === etag;
  const range = isSame ? parseRange(headers.get('range'), size) : undefined;
  if (range === null)
    return { status: 416, headers: { ...own, 'Content-Range': `bytes */${size}` }, body: '' };
  if (range === undefined) return { status: 200, headers: own, body: toBody(file, 0, size) };
  const { first, last } = range;
  const contentRange = { 'Content-Range': `bytes ${first}-${last}/${size}` };
  return { status: 206, headers: { ...own, ...contentRange }, body: toBody(file, first, last - first + 1) };
}

function toBody({ handle }: OpenFile, start: number, length: number): FileBody {
  return {
    length,
    open: () => handle.createReadStream({ start, end: start + length - 1, autoClose: true }),
    discard: () => handle.close(),
  };
}

function matches(header: string | null, etag: string): boolean {
  const tags = (header ?? '').split(',').map((one) => one.trim().replace(/^W\//, ''));
  return tags.includes(etag) || tags.includes('*');
}

// Opens the file before it checks it, so that the file cannot be replaced in between; O_NONBLOCK, since it may be a
// FIFO.
async function openWithin(folder: string, path: string): Promise<OpenFile | undefined> {
  let handle: FileHandle | undefined;
  try {
    const [root, file] = await Promise.all([realpath(folder), realpath(join(folder, path))]);
    if (!file.startsWith(`${root}/`)) return undefined;
    handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const found = await handle.stat({ bigint: true });
    const etag = `"${found.ino}-${found.size}-${found.mtimeNs}"`;
    if (found.isFile()) return { handle, size: Number(found.size), etag };
  } catch {}
  await handle?.close().catch(() => {});
  return undefined;
}
