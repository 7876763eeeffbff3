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

/** The umask that commands set, because `ensureOwnerAccess` has changed that of this process; undefined if it has not. */
export function umaskOfCommands(): number | undefined {
  return original;
}
