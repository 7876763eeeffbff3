#!/usr/bin/env node
// 1. `greet-first.ts`, a bundle of its own with compiled code, answers an MCP client at once, 2. `main` does everything else. It imports no
// chunk by itself: if one cannot be read, no code would run that explains why.
import { realpathSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type * as greeter from './assembly/greet-first.ts';
import { loadCachedCode } from './support/cached-code.ts';

/** The name of the bundle of `greet-first.ts`; the build replaces it. */
declare const greeterFile: string;

// Late enough not to delay the first replies to a client that has just connected.
const saveAfterMs = 3_000;

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
const argv = process.argv.slice(2);
const started = {
  env: process.env,
  cwd: workingDirectory(),
  io: { stdin, stdout, stderr, interrupted: interruption.signal },
};
const greeting = argv[0] === 'mcp' ? await greetFirst() : {};
// The client disconnected, or a signal arrived during the greeting: no command is running yet.
if (greeting.greeted && (greeting.greeted.isOver || interruption.signal.aborted)) process.exit(0);
const { main } = await import('./assembly/main.ts').catch(reportUnreadable);
process.exitCode = await main(argv, {
  ...started,
  ...greeting,
  program: { node: stableNode(), script: realpathSync(fileURLToPath(import.meta.url)) },
});
// A script that redirects to a full disk must not mistake a truncated file for the whole output.
if (lostOutput) {
  process.stderr.write(`nacre: stdout cannot be written: ${lostOutput.message}.\n`);
  // `interruption` may have stopped the command, whose exit code is then that of SIGPIPE.
  const { toSignalExit } = await import('./doors/exit-codes.ts');
  if (process.exitCode === 0 || process.exitCode === toSignalExit('SIGPIPE', 'SIGTERM')) process.exitCode = 1;
}
process.exit();

function reportUnreadable(error: NodeJS.ErrnoException): never {
  const hint = error.code === 'EMFILE' ? ' Raise the limit of open files (ulimit -n) to 256 or more.' : '';
  process.stderr.write(`nacre: its own files cannot be read: ${error.message}.${hint}\n`);
  process.exit(125);
}

// If this fails, `main` fails in the same way and reports it.
async function greetFirst(): ReturnType<typeof greeter.greetFirst> {
  try {
    const code = loadCachedCode(fileURLToPath(new URL(greeterFile, import.meta.url)));
    const answered = await (code.exports as typeof greeter).greetFirst(argv, started);
    setTimeout(() => code.save(), saveAfterMs).unref();
    return answered;
  } catch {
    return {};
  }
}

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
