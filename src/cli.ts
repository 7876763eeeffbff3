#!/usr/bin/env node
import { realpathSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { main } from './assembly/main.ts';

const interruption = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.on(signal, () => interruption.abort(signal));
// A reader that has gone away (`nacre run … | head`) is no reason to crash.
process.stdout.on('error', () => interruption.abort('SIGPIPE'));
process.stderr.on('error', () => {});

const { stdin, stdout, stderr } = process;
process.exitCode = await main(process.argv.slice(2), {
  env: process.env,
  cwd: workingDirectory(),
  io: { stdin, stdout, stderr, interrupted: interruption.signal },
  program: { node: stableNode(), script: realpathSync(fileURLToPath(import.meta.url)) },
});
process.exit();

// A directory that was removed under us has no name; the last one that is known serves to say so.
function workingDirectory(): string {
  try {
    return process.cwd();
  } catch {
    return process.env.PWD || '(removed)';
  }
}

// The path that Node knows of itself may name a version that the next upgrade removes; the one on the PATH stays.
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
