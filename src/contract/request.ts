import { z } from 'zod';
import type { ChangesMode } from './changes.ts';
import { type Command, maxCommandBytes } from './command.ts';
import type { SandboxName } from './isolation.ts';
import type { Limits } from './limits.ts';

/** A command as every door passes it to the engine. */
export interface CommandRequest {
  readonly command: Command;
  /** The name of the machine to run on; the default machine if absent. */
  readonly on?: string | undefined;
  /** Written to stdin, which is then closed; if absent, stdin is at EOF from the start. */
  readonly input?: string | undefined;
  /** As the caller wrote it; undefined means the server's working directory. */
  readonly cwd?: string | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly timeoutMs: number | null;
  /** The key of the persistent shell to run in; commands for the same shell run one after the other. */
  readonly session?: string | undefined;
  /** A stricter sandbox than that of the settings. */
  readonly sandbox?: SandboxName | undefined;
  /** A stricter way to change files than that of the settings. */
  readonly changes?: ChangesMode | undefined;
  /** Lower resource limits than those of the settings. */
  readonly limits?: Limits | undefined;
  readonly maxOutputChars: number;
  /** Maximum lines of output in a reply. */
  readonly maxOutputLines?: number | undefined;
  /** Kills the command when one of its streams exceeds this many bytes; the text up to there is complete. */
  readonly maxStreamBytes?: number | undefined;
  /** False cuts at exactly `maxOutputChars`; otherwise at line ends. */
  readonly cutAtLines?: boolean | undefined;
  /** Quotes unquoted words that together name an existing path. */
  readonly quotePaths?: boolean | undefined;
}

/** Schema of text without NUL bytes and lone surrogates; `what` names the field in errors. */
export const plainText = (what: string) =>
  z
    .string()
    .refine((value) => !value.includes('\0'), `${what} must not contain NUL bytes`)
    .refine((value) => value.isWellFormed(), `${what} must be valid Unicode: it has half a surrogate pair`);

/** Schema of a shell command. */
export const commandText = plainText('command')
  .min(1, 'command must not be empty')
  .refine(
    (value) => utf8Length(value) <= maxCommandBytes,
    `command must be at most ${maxCommandBytes} bytes; put long data into input or a file`,
  );

/** The maximum number of arguments of a program. */
export const maxArguments = 10_000;

/** Schema of text for stdin. */
export const inputText = z
  .string()
  .max(8_388_608, 'input must be at most 8388608 characters; put more into a file')
  .refine((value) => value.isWellFormed(), 'input must be valid Unicode: it has half a surrogate pair');

/** Schema of a directory in the field `field`. */
export const directoryText = (field: string) =>
  plainText(field)
    .min(1, `${field} must not be empty`)
    .max(4_096, `${field} must be at most 4096 characters`);

/** Schema of a directory in the field `cwd`, as most doors call it. */
export const cwdText = directoryText('cwd');

/** The longest value of a variable: execve() fails with E2BIG for a `NAME=value` string of 128 KiB. */
export const maxVariableBytes = 131_000;

/** Schema of the variables that a caller adds. */
export const envMap = z.record(
  z
    .string()
    .regex(
      /^[A-Za-z_][A-Za-z0-9_]*$/,
      'a variable name has only letters, digits and _, and does not start with a digit',
    ),
  plainText('a variable’s value').refine(
    (value) => utf8Length(value) <= maxVariableBytes,
    `a variable’s value must be at most ${maxVariableBytes} bytes`,
  ),
);

function utf8Length(value: string): number {
  let bytes = value.length;
  for (let index = 0; index < value.length; index += 1) {
    const unit = value.charCodeAt(index);
    // A surrogate pair is two UTF-16 units and four bytes, so each half adds one byte to `value.length`.
    if (unit >= 0x80) bytes += unit < 0x800 || (unit & 0xf800) === 0xd800 ? 1 : 2;
  }
  return bytes;
}
