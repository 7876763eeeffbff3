/** Options of the shell (`set -o`, `shopt -s`) with which text means something else than the walk assumes. */
export const readingOptions: ReadonlySet<string> = new Set(
  'posix keyword lastpipe xpg_echo nocasematch extdebug cdable_vars'.split(' '),
);
