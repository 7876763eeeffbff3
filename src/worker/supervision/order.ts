import type { Command } from '../../contract/command.ts';
import type { Environment } from '../environment.ts';

/** What a waiting shell is told to do. */
export interface Order {
  /** `file` for a script that stands in descriptor 6. */
  readonly command: Command | 'file';
  readonly cwd: string;
  readonly env: Environment;
  /** `empty` gives the command /dev/null; `open` leaves it what follows the order. */
  readonly stdin: 'empty' | 'open';
  /** A line of bash that binds the shell to its limits; may be empty. */
  readonly prelude: string;
}

// The launcher reads up to a NUL from its stdin, byte by byte, so that what follows stays for the command.
const variable = '__nacre_order';

/** Where a shell at a terminal gets its order from. */
export const orderFd = 7;

/** The script of the shell that waits for an order and then becomes the command's own shell. */
export const launcherScript = `IFS= read -r -d '' ${variable} && eval "$${variable}"`;

/** The same for a shell at a terminal, where stdin is the person's: its order comes through a descriptor of its own. */
export const terminalLauncherScript = `IFS= read -r -d '' ${variable} <&${orderFd} && exec ${orderFd}<&- && eval "$${variable}"`;

/** The text of an order, NUL included. */
export function toOrder({ command, cwd, env, stdin, prelude }: Order): string {
  const steps = [
    `unset ${variable}`,
    `cd -- ${quote(cwd)} || exit 125`,
    'unset OLDPWD',
    ...Object.entries(env).map(([name, value]) => `export ${name}=${quote(value)}`),
    ...(stdin === 'empty' ? ['exec </dev/null'] : []),
    // On one line, so that bash counts the lines of every command alike.
    `${prelude}${prelude === '' ? '' : '; '}${toText(command)}`,
  ];
  // On one line, so that the first line of the command is line 1 in bash's own messages.
  return `${steps.join('; ')}\0`;
}

function toText(command: Order['command']): string {
  if (command === 'file') return 'eval -- "$(</dev/fd/6)" 6<&-';
  if (command.kind === 'shell') return `eval -- ${quote(command.script)}`;
  return `exec -- ${command.argv.map(quote).join(' ')}`;
}

/** A text as one word of bash. */
export function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** A text as one word of bash that has no line break in it. */
export function quoteOnOneLine(text: string): string {
  return `$'${text.replace(/[\\']/g, '\\$&').replaceAll('\n', '\\n')}'`;
}
