// The user's home, config and state folders. A relative path in HOME or XDG_* would resolve inside the current project,
// so it is ignored, as the XDG Base Directory specification requires.
import { accessSync, constants, existsSync, lstatSync } from 'node:fs';
import { homedir, tmpdir, userInfo } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';

/** The environment that HOME, XDG_CONFIG_HOME and XDG_STATE_HOME are read from. */
export type HomeVariables = Readonly<Record<string, string | undefined>>;

/** The home directory from HOME or else from the account; `/` for a user id without an account. */
export function homeOf({ HOME }: HomeVariables, accounts = [homedir, () => userInfo().homedir]): string {
  const named = absolute(HOME);
  if (named !== undefined) return named;
  return accounts.map(attempt).find((path) => absolute(path) !== undefined) ?? '/';
}

/** The folder of the user's settings files, `~/.config` by default. */
export function configHomeOf(env: HomeVariables): string {
  return absolute(env.XDG_CONFIG_HOME) ?? join(homeOf(env), '.config');
}

/** The folder of the user's persistent state, `~/.local/state` by default. */
export function stateHomeOf(env: HomeVariables): string {
  return absolute(env.XDG_STATE_HOME) ?? join(homeOf(env), '.local', 'state');
}

/**
 * The default state folder of nacre. A user id without an account, as in containers, has no home folder (`/` cannot be written), and
 * accounts of services have one that does not exist (`/nonexistent`). Both get a private folder in the temporary directory, unless
 * another user has created one of that name.
 */
export function stateDirOf(env: HomeVariables, uid = process.getuid?.() ?? 0): string {
  const usual = join(stateHomeOf(env), 'nacre');
  if (absolute(env.XDG_STATE_HOME) !== undefined || uid === 0 || canHaveState(homeOf(env))) return usual;
  const temporary = join(tmpdir(), `nacre-${uid}`);
  const found = lstatSync(temporary, { throwIfNoEntry: false });
  return found === undefined || (found.isDirectory() && found.uid === uid) ? temporary : usual;
}

/**
 * Returns true if a home folder exists or can be created; `/` is not a home folder. One that exists but cannot be written counts, so that
 * the error is reported.
 */
function canHaveState(home: string): boolean {
  if (home === '/') return false;
  return existsSync(home) || isWritable(nearestExisting(home));
}

function nearestExisting(path: string): string {
  const above = dirname(path);
  return existsSync(above) ? above : nearestExisting(above);
}

function isWritable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
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
