import { accessSync, closeSync, constants, readSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Command } from '../../contract/command.ts';
import { NacreError, resourcesExhausted } from '../../contract/failure.ts';
import { openRegularFile } from '../../support/regular-file.ts';
import { findProgram } from '../machine/inspect.ts';

/** Thrown if a program exists but is not executable (EACCES). */
export class NotExecutableError extends Error {}

/**
 * Throws if the working directory cannot be entered, or if execve() would fail for a program with its arguments. The shell
 * that runs `exec PROGRAM` would report that in its own words, and run a file without `#!` itself.
 */
export function checkStart(command: Command, cwd: string, path: string): void {
  if (!canEnter(cwd)) throw cwdGone(cwd);
  if (command.kind === 'shell') return;
  const [program, ...args] = command.argv;
  if (args.some((one) => Buffer.byteLength(one) >= maxArgumentBytes)) throw argumentTooLong(program);
  const file = program.includes('/') ? resolve(cwd, program) : findProgram(program, path);
  if (file === null || !exists(file)) throw programMissing(program);
  if (isDirectory(file)) throw new NotExecutableError(`${program}: Is a directory`);
  if (!canExecute(file)) throw notExecutable(program);
  checkFormat(program, file);
}

// MAX_ARG_STRLEN of the kernel, which includes the NUL at the end.
const maxArgumentBytes = 131_072;
// The length of a first line that the kernel reads (BINPRM_BUF_SIZE).
const firstBytes = 256;

/** Throws for a script whose interpreter is missing, and for a text without `#!`. Other files are left to the kernel. */
function checkFormat(program: string, file: string): void {
  const start = readStart(file);
  if (start === undefined || start.startsWith('\x7fELF')) return;
  const [, interpreter] = /^#![ \t]*([^ \t\n\0]+)/.exec(start) ?? [];
  if (interpreter === undefined) {
    const [line = ''] = start.split('\n');
    if (!line.includes('\0')) throw notAProgram(program);
  } else if (!exists(resolve('/', interpreter))) {
    throw interpreterMissing(program, interpreter);
  }
}

// `undefined` for a program that may be executed but not read.
function readStart(file: string): string | undefined {
  try {
    const bytes = Buffer.alloc(firstBytes);
    const handle = openRegularFile(file, 'read');
    try {
      return bytes.toString('latin1', 0, readSync(handle, bytes));
    } finally {
      closeSync(handle);
    }
  } catch {
    return undefined;
  }
}

/** The error for a script whose `#!` line names a missing program (ENOENT). */
function interpreterMissing(program: string, interpreter: string): NacreError {
  return new NacreError(
    'program_not_found',
    `${program}: its interpreter ${interpreter} does not exist (spawn ${program} ENOENT).`,
    { hint: 'Correct the first line of the file, or install the interpreter.' },
  );
}

/** The error for a text file without a `#!` line (ENOEXEC). */
function notAProgram(program: string): NacreError {
  return new NacreError(
    'cannot_execute',
    `${program}: not a program, and its first line names no interpreter (spawn ${program} ENOEXEC).`,
    { hint: 'Begin the file with a line such as #!/bin/sh, or run it with its interpreter.' },
  );
}

/** The error for an argument that the kernel does not accept (E2BIG). */
function argumentTooLong(program: string): NacreError {
  return new NacreError(
    'cannot_execute',
    `${program}: an argument is longer than ${maxArgumentBytes - 1} bytes (spawn ${program} E2BIG).`,
    { hint: 'Pass long data through stdin or a file.' },
  );
}

/** True if the path is a directory that can be entered. */
export function canEnter(path: string): boolean {
  return canExecute(path) && isDirectory(path);
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** The error for a program that does not exist (ENOENT). */
export function programMissing(program: string): NacreError {
  const hint = 'Check the spelling, or install the program.';
  return new NacreError('program_not_found', `${program}: command not found (spawn ${program} ENOENT).`, {
    hint,
  });
}

/** The error for a program that is not executable. */
export function notExecutable(program: string): NotExecutableError {
  return new NotExecutableError(`${program}: Permission denied`);
}

/** The error for a working directory that has disappeared since it was inspected. */
export function cwdGone(cwd: string): NacreError {
  return new NacreError('cwd_invalid', `The working directory ${cwd} is gone or can no longer be entered.`, {
    hint: 'Choose another cwd, or create the directory again.',
  });
}

/** The error for a system that cannot start another process (EAGAIN, EMFILE, ENOMEM). */
export function startUnavailable(program: string, cause: unknown): NacreError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return resourcesExhausted(`The system could not start ${program}: ${reason}`, cause);
}

/** The reason of a supervisor or guard that ended without printing one. */
export const noReason = 'it ended without a message, as at a limit on processes or memory';

// As bubblewrap and bash print EAGAIN, ENOMEM and EMFILE.
const exhausted = /Resource temporarily unavailable|Cannot allocate memory|Too many open files/;

/** The error for a namespace that could not be created, with what its supervisor printed. */
export function supervisionUnavailable(level: string, printed: string): NacreError {
  const reason = printed.trim() || noReason;
  if (exhausted.test(reason)) return startUnavailable('the command', reason);
  return new NacreError(
    'isolation_unavailable',
    `Supervision at level ${level} could not be started for this command: ${reason}`,
    { hint: 'Run nacre doctor to see what this machine allows. Nothing was run.' },
  );
}

function canExecute(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function exists(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}
