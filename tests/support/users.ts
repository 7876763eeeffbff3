import { chmodSync, chownSync, cpSync, mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';

/** The users for whom everything has to hold; an ordinary test run has only itself. */
export const users = process.getuid?.() === 0 ? (['root', 'ordinary'] as const) : (['root'] as const);

/** One kind of user. */
export type User = (typeof users)[number];

const nobody = 65_534;

/** The built command line for a user who may not be able to read the folder that the tests run in. */
export function cliFor(user: User, home: string): { cli: string; identity: { uid?: number; gid?: number } } {
  if (user === 'root') return { cli: resolve('dist/cli.js'), identity: {} };
  cpSync('dist', join(home, 'dist'), { recursive: true });
  mkdirSync(join(home, '.local'), { recursive: true });
  for (const path of [home, join(home, '.local')]) chownSync(path, nobody, nobody);
  chmodSync(home, 0o755);
  return { cli: join(home, 'dist', 'cli.js'), identity: { uid: nobody, gid: nobody } };
}
