import { readFile, realpath, stat } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { HttpProblem } from './problem.ts';

const types: Readonly<Record<string, string>> = {
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
const longestFile = 33_554_432;

/** Serves a file of a folder; whatever lies elsewhere, is hidden or of no known type is not there. */
export async function serveFile(folder: string, path: string, policy: string): Promise<Response> {
  const type = types[extname(path).toLowerCase()];
  const bytes = plainPath.test(path) && type !== undefined ? await readWithin(folder, path) : undefined;
  if (bytes === undefined || type === undefined)
    throw new HttpProblem(
      404,
      `There is no file ${JSON.stringify(path.slice(0, 100))}; files that are hidden or of an unknown type are not served.`,
    );
  return new Response(new Uint8Array(bytes), {
    headers: { 'Content-Type': type, 'Content-Security-Policy': policy },
  });
}

async function readWithin(folder: string, path: string): Promise<Buffer | undefined> {
  try {
    const [root, file] = await Promise.all([realpath(folder), realpath(join(folder, path))]);
    const found = await stat(file);
    if (!file.startsWith(`${root}/`) || !found.isFile() || found.size > longestFile) return undefined;
    return await readFile(file);
  } catch {
    return undefined;
  }
}
