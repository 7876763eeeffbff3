/** Shell options with which a pattern may match `.git`: `*` with dotglob, `.GI[T]` with nocaseglob. */
export const hiddenGlobOptions: ReadonlySet<string> = new Set(['dotglob', 'nocaseglob']);

/** Shell options (`set -o`, `shopt -s`) that change how bash reads commands, so that the walk would misread them. */
export const parsingOptions: ReadonlySet<string> = new Set(
  'posix keyword lastpipe xpg_echo nocasematch extdebug cdable_vars histexpand'.split(' '),
);
