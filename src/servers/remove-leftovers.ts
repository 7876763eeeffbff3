import { lstatSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { openSocket } from './open-socket.ts';

// A starting server needs milliseconds from the first of these files to the rename of its socket. Older files belong to no such server.
const oldMs = 60_000;
const leftover = /^(.+\.sock)\.(?:new|secret)$/;

/** Removes the files of servers that were killed before their control socket had its name (`listenAt`). */
export async function removeLeftovers(folder: string): Promise<void> {
  const names = new Set(list(folder));
  const sockets = new Set([...names].flatMap((name) => leftover.exec(name)?.[1] ?? []));
  for (const socket of sockets) {
    const own = [`${socket}.new`, `${socket}.secret`].filter((name) => names.has(name));
    if (names.has(socket) || !own.every((name) => isOld(join(folder, name)))) continue;
    const isDead = !names.has(`${socket}.new`) || (await isRefused(join(folder, `${socket}.new`)));
    if (isDead) for (const name of own) rmSync(join(folder, name), { force: true });
  }
}

function list(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function isOld(path: string): boolean {
  const found = lstatSync(path, { throwIfNoEntry: false });
  return found !== undefined && Date.now() - found.mtimeMs > oldMs;
}

// connect() succeeds if the server is alive, even if it is stopped.
async function isRefused(path: string): Promise<boolean> {
  try {
    (await openSocket(path)).destroy();
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ECONNREFUSED';
  }
}
