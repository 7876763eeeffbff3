import { readFile, realpath, stat } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { HttpProblem } from '../requests/problem.ts';
import type { Reply } from '../requests/raw-http.ts';

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
const maxFileBytes = 33_554_432;

/** Serves a file below `folder`; 404 for one that is elsewhere, hidden or of an unknown type. */
export async function serveFile(folder: string, path: string, policy: string): Promise<Reply> {
  const type = contentTypes[extname(path).toLowerCase()];
  const body = plainPath.test(path) && type !== undefined ? await readWithin(folder, path) : undefined;
  if (body === undefined || type === undefined)
    throw new HttpProblem(
      404,
      `There is no file ${JSON.stringify(path.slice(0, 100))}; hidden files and unknown types are not served.`,
    );
  return { status: 200, headers: { 'Content-Type': type, 'Content-Security-Policy': policy }, body };
}

async function readWithin(folder: string, path: string): Promise<Buffer | undefined> {
  try {
    const [root, file] = await Promise.all([realpath(folder), realpath(join(folder, path))]);
    const found = await stat(file);
    if (!file.startsWith(`${root}/`) || !found.isFile() || found.size > maxFileBytes) return undefined;
    return await readFile(file);
  } catch {
    return undefined;
  }
}
