import { isScriptName } from './environment.ts';

/** Variables that bash itself sets, regardless of assignments. */
const setByBash =
  /^(?:_|FUNCNAME|REPLY|OPTARG|OPTIND|PWD|OLDPWD|DIRSTACK|GROUPS|PIPESTATUS|COPROC|MAPFILE|HISTCMD|COMP_\w+|COPROC_PID|READLINE_\w+|BASH_(?:REMATCH|COMMAND|ARGV|ARGV0|ARGC|SOURCE|LINENO|ALIASES|CMDS|SUBSHELL))$/;

/** Returns true for a variable such as REPLY or BASH_REMATCH that bash itself sets. */
export function isSetByBash(name: string): boolean {
  return !isScriptName(name) && setByBash.test(name);
}
