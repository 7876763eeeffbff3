import { z } from 'zod';
import { type Command, maxCommandBytes } from './command.ts';
import type { SandboxName } from './isolation.ts';
import type { Limits } from './limits.ts';

/** What every door asks of the engine, whatever its own words were. */
export interface CommandRequest {
  readonly command: Command;
  /** Written to stdin, which is then closed; without it stdin is at its end from the start. */
  readonly input?: string | undefined;
  /** As the caller wrote it; undefined means the server's own directory. */
  readonly cwd?: string | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly timeoutMs: number | null;
  /** The persistent shell to run in, by its key; calls for the same one come one after the other. */
  readonly session?: string | undefined;
  /** A sandbox that is stricter than that of the settings. */
  readonly sandbox?: SandboxName | undefined;
  /** What the command may use, where that is less than the settings grant. */
  readonly limits?: Limits | undefined;
  readonly maxOutputChars: number;
  /** Ends the command when one of its streams has more bytes than this; up to there the text is whole. */
  readonly maxStreamBytes?: number | undefined;
  /** False keeps exactly that many characters; otherwise the kept parts end at lines where that costs little. */
  readonly cutAtLines?: boolean | undefined;
  /** Puts quotes around unquoted words that together name an existing path. */
  readonly quotePaths?: boolean | undefined;
}

/** Text without NUL bytes and halves of characters; the name is for what is wrong with it. */
export const plainText = (what: string) =>
  z
    .string()
    .refine((value) => !value.includes('\0'), `${what} must not contain NUL bytes`)
    .refine((value) => value.isWellFormed(), `${what} must be valid Unicode: it has half a surrogate pair`);

/** A shell command as any door may receive it. */
export const commandText = plainText('command')
  .min(1, 'command must not be empty')
  .refine(
    (value) => utf8Length(value) <= maxCommandBytes,
    `command must be at most ${maxCommandBytes} bytes; put long data into input or a file`,
  );

/** The most arguments that a program is given. */
export const maxArguments = 10_000;

/** Text for stdin. */
export const inputText = z
  .string()
  .max(8_388_608, 'input must be at most 8388608 characters; put more into a file')
  .refine((value) => value.isWellFormed(), 'input must be valid Unicode: it has half a surrogate pair');

/** A directory in the field of that name. */
export const directoryText = (field: string) =>
  plainText(field)
    .min(1, `${field} must not be empty`)
    .max(4_096, `${field} must be at most 4096 characters`);

/** A directory as most doors receive it. */
export const cwdText = directoryText('cwd');

/** As much as a variable can hold: the kernel starts no program with one of 128 KiB, its name included. */
export const maxVariableBytes = 131_000;

/** Variables that a caller adds. */
export const envMap = z.record(
  z
    .string()
    .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'a variable name has letters, digits and _ and starts with no digit'),
  plainText('a variable’s value').refine(
    (value) => utf8Length(value) <= maxVariableBytes,
    `a variable’s value must be at most ${maxVariableBytes} bytes`,
  ),
);

function utf8Length(value: string): number {
  let bytes = value.length;
  for (let index = 0; index < value.length; index += 1) {
    const unit = value.charCodeAt(index);
    // The halves of a surrogate pair are two units for four bytes.
    if (unit >= 0x80) bytes += unit < 0x800 || (unit & 0xf800) === 0xd800 ? 1 : 2;
  }
  return bytes;
}
