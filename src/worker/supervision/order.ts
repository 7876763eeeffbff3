import type { Command } from '../../contract/command.ts';
import { quoteInAscii } from '../io/quote.ts';
import { readSized, toSized } from '../io/sized-text.ts';
import type { Environment } from '../machine/environment.ts';

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
  readonly atTerminal: boolean;
}

const variable = '__nacre_order';

/** Where a shell at a terminal gets its order from. */
export const orderFd = 7;

/** The script of the shell that waits for an order and then becomes the command's own shell. */
export const launcherScript = `${toReading('')} && eval "$${variable}"`;

/** The same for a shell at a terminal, where stdin is the person's: its order comes through a descriptor of its own. */
export const terminalLauncherScript = `${toReading(` <&${orderFd}`)} && eval "$${variable}"`;

function toReading(from: string): string {
  return readSized({ read: `read${from}`, variable });
}

/** An order in two parts, so that a shell can make itself ready before it is decided that the command runs. */
export interface OrderParts {
  /** What is done before, and is of no effect beyond that shell. */
  readonly setUp: string;
  /** The command. */
  readonly run: string;
}

/** The text of an order. */
export function toOrder({ command, cwd, env, stdin, prelude, atTerminal }: Order): OrderParts {
  const setUp = [
    `cd -- ${quoteInAscii(cwd)} || exit 125`,
    'unset OLDPWD',
    `${toReading(atTerminal ? ` <&${orderFd}` : '')} || exit 125`,
    ...(atTerminal ? [`exec ${orderFd}<&-`] : []),
    ...(stdin === 'empty' ? ['exec </dev/null'] : []),
    `eval "$${variable}"`,
  ];
  // The variables come with the command: some of them change how bash reads.
  const run = [
    `unset ${variable}`,
    ...Object.entries(env).map(([name, value]) => `export ${name}=${quoteInAscii(value)}`),
    ...(prelude === '' ? [] : [prelude]),
    toText(command),
  ];
  // On one line, so that the first line of the command is line 1 in bash's own messages, and every line counts alike.
  return { setUp: toSized(setUp.join('; ')), run: toSized(run.join('; ')) };
}

function toText(command: Order['command']): string {
  if (command === 'file') return 'eval -- "$(</dev/fd/6)" 6<&-';
  if (command.kind === 'shell') return `eval -- ${quoteInAscii(command.script)}`;
  return `exec -- ${command.argv.map(quoteInAscii).join(' ')}`;
}
