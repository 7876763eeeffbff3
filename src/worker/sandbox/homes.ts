import { accessSync, constants, readFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { credentialFiles, credentialFolders } from '../../support/credential-paths.ts';
import { isSystemFolder } from '../../support/is-too-wide.ts';
import { toCanonical } from './own-files.ts';

/** The home directories of this machine. */
export interface Homes {
  /** HOME as it is set; it may be a symlink, or not exist. */
  readonly named: string;
  /** Canonical home directories of the server's user: HOME, and that of the account. */
  readonly own: readonly string[];
  /** All home directories, as named and as canonical paths. */
  readonly all: readonly string[];
  /** Canonical folders to hide in a sandbox; none contains another one. */
  readonly hidden: readonly string[];
}

const places = ['/home', '/root'];

/** Finds the home directories: HOME, and those of the accounts in /etc/passwd. */
export function findHomes(home: string, accounts = readAccounts()): Homes {
  const own = [...new Set([home, ...ownAccount()].flatMap(toCanonical))];
  const all = [...new Set([home, ...own, ...accounts, ...accounts.flatMap(toCanonical)])];
  const hidden = [...places.flatMap(toCanonical), ...all].filter(canBeHidden);
  return { named: home, own, all, hidden: toOutermost([...new Set(hidden)]) };
}

/** The home directories whose contents decide about a folder: those of the server's user, and those that contain it. */
export function homesAround(folder: string, { named, own, all }: Homes): readonly string[] {
  return all.filter((home) => home === named || own.includes(home) || folder.startsWith(`${home}/`));
}

/** The canonical paths of the files and folders with keys that exist in a home directory. */
export function keyStoresIn(home: string): readonly string[] {
  return keyStoreNames.flatMap((name) => toCanonical(join(home, name)));
}

/** The key stores of the server's user. Those of other users are in homes that are hidden. */
export function ownKeyStores({ named, own }: Pick<Homes, 'named' | 'own'>): readonly string[] {
  return [...new Set([named, ...own].flatMap(keyStoresIn))];
}

/** Names of the files and folders with keys in a home directory. */
export const keyStoreNames: readonly string[] = [...credentialFolders, ...credentialFiles];

// User ids below 1000 belong to services, whose home directory may be any folder of the system.
const firstUser = 1_000;
const lastUser = 60_000;

function readAccounts(): readonly string[] {
  try {
    return readFileSync('/etc/passwd', 'utf8')
      .split('\n')
      .map((line) => line.split(':'))
      .filter(([, , uid = '']) => uid === '0' || (Number(uid) >= firstUser && Number(uid) <= lastUser))
      .flatMap(([, , , , , home]) => (home?.startsWith('/') && home !== '/' ? [home] : []));
  } catch {
    return [];
  }
}

function ownAccount(): readonly string[] {
  try {
    return [userInfo().homedir].filter((home) => home !== '/');
  } catch {
    // ENOENT: a user id without an account.
    return [];
  }
}

// System folders of programs stay visible even if HOME names one of them. A home that the server cannot enter exposes
// nothing anyway.
function canBeHidden(path: string): boolean {
  if (toCanonical(path)[0] !== path || (isSystemFolder(path) && !places.includes(path))) return false;
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function toOutermost(paths: readonly string[]): readonly string[] {
  return paths.filter((path) => !paths.some((other) => path.startsWith(`${other}/`)));
}
