#!/usr/bin/env node
import { realpathSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { main } from './assembly/main.ts';
import { toSignalExit } from './doors/exit-codes.ts';
import { ensureOwnerAccess } from './support/umask.ts';

ensureOwnerAccess();

const interruption = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.on(signal, () => interruption.abort(signal));
// With `nacre run … | head`, stdout fails with EPIPE: stop the command instead of crashing.
let lostOutput: NodeJS.ErrnoException | undefined;
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') lostOutput ??= error;
  interruption.abort('SIGPIPE');
});
process.stderr.on('error', () => {});

const { stdin, stdout, stderr } = process;
process.exitCode = await main(process.argv.slice(2), {
  env: process.env,
  cwd: workingDirectory(),
  io: { stdin, stdout, stderr, interrupted: interruption.signal },
  program: { node: stableNode(), script: realpathSync(fileURLToPath(import.meta.url)) },
});
// A script that redirects to a full disk must not mistake what it has for the whole output.
if (lostOutput) {
  process.stderr.write(`nacre: stdout cannot be written: ${lostOutput.message}.\n`);
  // `interruption` may have stopped the command, whose exit code is then that of SIGPIPE.
  if (process.exitCode === 0 || process.exitCode === toSignalExit('SIGPIPE', 'SIGTERM')) process.exitCode = 1;
}
process.exit();

// `process.cwd()` throws if the directory was removed; PWD still has its name for the error message.
function workingDirectory(): string {
  try {
    return process.cwd();
  } catch {
    return process.env.PWD || '(removed)';
  }
}

// `process.execPath` may be in a versioned folder that the next Node upgrade removes; prefer the `node` on the PATH.
function stableNode(): string {
  const folders = (process.env.PATH ?? '').split(delimiter).filter((folder) => folder.startsWith('/'));
  const found = folders.map((folder) => join(folder, 'node')).find(isThisNode);
  return found ?? process.execPath;
}

function isThisNode(path: string): boolean {
  try {
    return realpathSync(path) === realpathSync(process.execPath);
  } catch {
    return false;
  }
}
