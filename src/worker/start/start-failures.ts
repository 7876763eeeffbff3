import { accessSync, constants, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { NacreError } from '../../contract/failure.ts';
import { findProgram } from '../machine/inspect.ts';

/** Thrown if a program exists but is not executable (EACCES). */
export class NotExecutableError extends Error {}

/** Throws if the working directory cannot be entered, or if the program does not exist or is not executable. */
export function checkStart(program: string | undefined, cwd: string, path: string): void {
  if (!canEnter(cwd)) throw cwdGone(cwd);
  if (program === undefined) return;
  if (!program.includes('/')) {
    if (findProgram(program, path) === null) throw programMissing(program);
    return;
  }
  const file = resolve(cwd, program);
  if (!exists(file)) throw programMissing(program);
  if (!canExecute(file)) throw notExecutable(program);
}

/** True if the path is a directory that can be entered. */
export function canEnter(path: string): boolean {
  return canExecute(path) && statSync(path).isDirectory();
}

/** The error for a program that does not exist (ENOENT). */
export function programMissing(program: string): NacreError {
  const hint = 'Check the spelling, or install the program.';
  return new NacreError('program_not_found', `${program}: command not found.`, { hint });
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
  return new NacreError('resources_unavailable', `The system could not start ${program}: ${reason}`, {
    hint: 'There are too many processes or open files, or too little memory: stop some commands and try again.',
    cause,
  });
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
