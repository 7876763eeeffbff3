import type { Command } from '../../contract/command.ts';
import { readLengthPrefixed, withLengthPrefix } from '../io/length-prefix.ts';
import { quoteInAscii } from '../io/quote-in-ascii.ts';
import type { Environment } from '../machine/environment.ts';

/** The command that a waiting shell runs, with its directory, variables and limits. */
export interface Order {
  /** The command, or `file` for a script that is open as descriptor 6. */
  readonly command: Command | 'file';
  readonly cwd: string;
  readonly env: Environment;
  /** `empty` redirects the command's stdin from /dev/null; `open` leaves it the bytes after the order. */
  readonly stdin: 'empty' | 'open';
  /** Bash code that applies the limits (`ulimit`); may be empty. */
  readonly prelude: string;
  readonly atTerminal: boolean;
}

const variable = '__nacre_order';

/** The descriptor from which a shell at a terminal reads its order. */
export const orderFd = 7;

/** The script of the shell that reads an order from `stdin` and then becomes the command's own shell. */
export const launcherScript = `${toReading('')} && eval "$${variable}"`;

/** The same for a shell at a terminal, whose stdin is the keyboard: it reads its order from `orderFd`. */
export const terminalLauncherScript = `${toReading(` <&${orderFd}`)} && eval "$${variable}"`;

function toReading(from: string): string {
  return readLengthPrefixed({ read: `read${from}`, variable });
}

/** An order in two parts, so that the shell can set itself up before the start of the command is recorded. */
export interface OrderParts {
  /** Runs `cd` and waits for `run`; has no effect outside of the shell. */
  readonly setUp: string;
  /** Runs the command. */
  readonly run: string;
}

/** Writes an order as bash code, each part with its length before it (`withLengthPrefix`). */
export function toOrder({ command, cwd, env, stdin, prelude, atTerminal }: Order): OrderParts {
  const setUp = [
    `cd -- ${quoteInAscii(cwd)} || exit 125`,
    'unset OLDPWD',
    `${toReading(atTerminal ? ` <&${orderFd}` : '')} || exit 125`,
    ...(atTerminal ? [`exec ${orderFd}<&-`] : []),
    ...(stdin === 'empty' ? ['exec </dev/null'] : []),
    `eval "$${variable}"`,
  ];
  // The variables are in the second part, because some of them (LC_ALL, TMOUT) change how bash reads.
  const run = [
    `unset ${variable}`,
    ...Object.entries(env).map(([name, value]) => `export ${name}=${quoteInAscii(value)}`),
    ...(prelude === '' ? [] : [prelude]),
    toText(command),
  ];
  // Everything is on one line, so that the command's first line is line 1 in bash's messages and in LINENO.
  return { setUp: withLengthPrefix(setUp.join('; ')), run: withLengthPrefix(run.join('; ')) };
}

function toText(command: Order['command']): string {
  if (command === 'file') return 'eval -- "$(</dev/fd/6)" 6<&-';
  if (command.kind === 'shell') return `eval -- ${quoteInAscii(command.script)}`;
  return `exec -- ${command.argv.map(quoteInAscii).join(' ')}`;
}
