#!/usr/bin/env node
import { main } from './main.ts';

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
