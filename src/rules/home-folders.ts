// Where a user's own files are. A path that is not absolute would name a place in whatever project nacre works in, so
// that it counts as none, as the XDG specification asks for.
import { homedir, userInfo } from 'node:os';
import { isAbsolute, join } from 'node:path';

/** The variables that name the folders. */
export type HomeVariables = Readonly<Record<string, string | undefined>>;

/** The home directory that an environment names, or else the account; the root for a user id without an account. */
export function homeOf({ HOME }: HomeVariables, accounts = [homedir, () => userInfo().homedir]): string {
  const named = absolute(HOME);
  if (named !== undefined) return named;
  return accounts.map(attempt).find((path) => absolute(path) !== undefined) ?? '/';
}

/** The folder of a user's settings files. */
export function configHomeOf(env: HomeVariables): string {
  return absolute(env.XDG_CONFIG_HOME) ?? join(homeOf(env), '.config');
}

/** The folder of what programs keep for a user. */
export function stateHomeOf(env: HomeVariables): string {
  return absolute(env.XDG_STATE_HOME) ?? join(homeOf(env), '.local', 'state');
}

function absolute(path: string | undefined): string | undefined {
  return path !== undefined && isAbsolute(path) ? path : undefined;
}

function attempt(find: () => string): string | undefined {
  try {
    return find();
  } catch {
    return undefined;
  }
}
