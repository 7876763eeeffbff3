import { NacreError } from '../contract/failure.ts';

let original: number | undefined;

/**
 * Lets nacre use the files that it creates even under a umask that denies their owner all access, such as 777. Commands
 * get the original umask from `umaskOfCommands`.
 */
export function ensureOwnerAccess(): void {
  const umask = process.umask();
  if ((umask & 0o700) === 0) return;
  original = umask;
  process.umask(umask & 0o077);
}

/** Throws under a umask that `ensureOwnerAccess` would change: a program that imports nacre owns the umask of its process. */
export function requireOwnerAccess(): void {
  const umask = process.umask();
  if ((umask & 0o700) === 0) return;
  const shown = umask.toString(8).padStart(3, '0');
  throw new NacreError(
    'resources_unavailable',
    `Under the umask ${shown}, nacre could not use the files that it creates.`,
    { hint: 'Call process.umask(0o077) before createNacre. Nothing was started.' },
  );
}

/** The umask that commands set, because `ensureOwnerAccess` has changed that of this process; undefined if it has not. */
export function umaskOfCommands(): number | undefined {
  return original;
}
