import { chmodSync, chownSync, cpSync, mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** The users to run tests as; without root, only the current one, called `root`. */
export const users = process.getuid?.() === 0 ? (['root', 'ordinary'] as const) : (['root'] as const);

/** One of `users`. */
export type User = (typeof users)[number];

const ordinaryUid = 65_534;

/** The built command line for a user; an ordinary user gets a copy, because it may not be able to read this checkout. */
export function cliFor(user: User, home: string): { cli: string; identity: { uid?: number; gid?: number } } {
  if (user === 'root') return { cli: resolve('dist/cli.js'), identity: {} };
  cpSync('dist', join(home, 'dist'), { recursive: true });
  mkdirSync(join(home, '.local'), { recursive: true });
  for (const path of [home, join(home, '.local')]) chownSync(path, ordinaryUid, ordinaryUid);
  chmodSync(home, 0o755);
  return { cli: join(home, 'dist', 'cli.js'), identity: { uid: ordinaryUid, gid: ordinaryUid } };
}
