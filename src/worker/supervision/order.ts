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
  readonly atTerminal: boolean;
}

// Each part of an order comes with its length before it: the launcher takes just that at one go, and what follows stays
// for the command. bash counts characters there, so that an order has none of several bytes.
const variable = '__nacre_order';
const lengthDigits = 9;

/** Where a shell at a terminal gets its order from. */
export const orderFd = 7;

/** The script of the shell that waits for an order and then becomes the command's own shell. */
export const launcherScript = `${toReading('')} && eval "$${variable}"`;

/** The same for a shell at a terminal, where stdin is the person's: its order comes through a descriptor of its own. */
export const terminalLauncherScript = `${toReading(` <&${orderFd}`)} && eval "$${variable}"`;

function toReading(from: string): string {
  const length = `IFS= read -r -N ${lengthDigits} ${variable}${from}`;
  return `${length} && IFS= read -r -N "$${variable}" ${variable}${from}`;
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
  return { setUp: withLength(setUp.join('; ')), run: withLength(run.join('; ')) };
}

function withLength(text: string): string {
  return `${String(text.length).padStart(lengthDigits, '0')}${text}`;
}

function toText(command: Order['command']): string {
  if (command === 'file') return 'eval -- "$(</dev/fd/6)" 6<&-';
  if (command.kind === 'shell') return `eval -- ${quoteInAscii(command.script)}`;
  return `exec -- ${command.argv.map(quoteInAscii).join(' ')}`;
}

/** A text as one word of bash. */
export function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

const beyondAscii = /[^\x00-\x7f]/;

function quoteInAscii(text: string): string {
  if (!beyondAscii.test(text)) return quote(text);
  const bytes = [...Buffer.from(text)].map((byte) => {
    if (byte > 0x7f) return `\\${byte.toString(8)}`;
    return byte === 0x27 || byte === 0x5c ? `\\${String.fromCharCode(byte)}` : String.fromCharCode(byte);
  });
  return `$'${bytes.join('')}'`;
}

/** A text as one word of bash that has no line break in it. */
export function quoteOnOneLine(text: string): string {
  return `$'${text.replace(/[\\']/g, '\\$&').replaceAll('\n', '\\n')}'`;
}
