import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Launch } from './drivers.ts';
import { findProgram } from './find-program.ts';
import type { Place } from './place.ts';

/** A client that runs without a terminal. */
export interface RunningClient {
  readonly process: ChildProcess;
  /** The end of its output, for messages of failed tests. */
  output(): string;
  /** Its exit code, or the signal that ended it. */
  readonly ended: Promise<number | string>;
}

/** Starts a client without a terminal. */
export function startClient(name: string, { project, env }: Place, launch: Launch): RunningClient {
  const [program = '', ...words] = findProgram(name) ?? [];
  const child = spawn(program, [...words, ...launch.args], {
    cwd: project,
    env: { ...env, ...launch.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (data) => {
      text += data;
    });
  return {
    process: child,
    output: () => text.slice(-4_000),
    ended: once(child, 'close').then(([code, signal]) => code ?? signal),
  };
}
