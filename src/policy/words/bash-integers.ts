// Variables that have the integer attribute in some version of bash without being declared: `declare -p` shows it for most
// of them at the start, and for others (SECONDS, EPOCHSECONDS) once they are used. An assignment to one of them, by any
// builtin, evaluates the text as arithmetic, in which a subscript may contain a command substitution.
const integers = new Set(
  `RANDOM SRANDOM OPTIND HISTCMD SECONDS LINENO BASHPID PPID UID EUID EPOCHSECONDS EPOCHREALTIME BASH_SUBSHELL
  BASH_MONOSECONDS COMP_CWORD COMP_POINT COMP_TYPE COMP_KEY READLINE_POINT READLINE_MARK`.split(/\s+/),
);

/** Returns true for a variable whose assigned text bash evaluates as arithmetic from the start, such as RANDOM. */
export function isBashInteger(name: string): boolean {
  const first = name.charCodeAt(0);
  return first <= 0x5a && integers.has(name);
}
