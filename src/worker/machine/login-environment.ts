import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import type { Readable } from 'node:stream';
import { sendSignal } from '../processes/process-exit.ts';
import type { Environment } from './environment.ts';

/** The server's environment, extended by that of the login shell where needed. */
export interface LoginEnvironment {
  readonly env: Environment;
  /** How it was found, for `doctor`. */
  readonly note: string;
}

/** When to run the login shell: never, always, or only if the server's PATH looks like that of a desktop app. */
export type LoginEnvMode = 'auto' | 'always' | 'never';

/** How long a login shell may take; a plain one is tried if the interactive one does not answer. */
export interface LoginShellLimits {
  readonly interactiveMs: number;
  readonly plainMs: number;
}

// Start-up files of interactive shells (`.bashrc`, `.zshrc`) can be slow.
const loginShellLimits: LoginShellLimits = { interactiveMs: 3_000, plainMs: 1_500 };
const maxBytes = 1_048_576;

/** Reads the login shell's environment if `mode` asks for it; never rejects, and always returns within its time limits. */
export async function readLoginEnvironment(
  server: Environment,
  mode: LoginEnvMode,
  { interactiveMs, plainMs } = loginShellLimits,
): Promise<LoginEnvironment> {
  if (mode === 'never') return { env: server, note: 'not read (login_env: never)' };
  if (!needsLoginShell(server, mode))
    return {
      env: server,
      note: 'not needed: the server was started from a shell, or PATH has more than system directories',
    };
  const shell = server.SHELL || '/bin/bash';
  const found =
    (await readFrom(shell, '-ilc', server, interactiveMs)) ?? (await readFrom(shell, '-lc', server, plainMs));
  if (!found) {
    const seconds = (interactiveMs + plainMs) / 1_000;
    return { env: server, note: `${shell} did not print its environment within ${seconds} s` };
  }
  const { PWD: _pwd, OLDPWD: _oldpwd, SHLVL: _shlvl, _: _last, ...login } = found;
  return {
    env: { ...login, ...server, PATH: login.PATH ?? server.PATH ?? '' },
    note: `read from ${shell}`,
  };
}

function needsLoginShell(server: Environment, mode: LoginEnvMode): boolean {
  return mode === 'always' || (mode === 'auto' && isBare(server));
}

/** True for the environment of servers that desktop apps start: no SHLVL, and only system folders on the PATH. */
export function isBare(server: Environment): boolean {
  const standard = new Set(['/usr/local/bin', '/usr/local/sbin', '/usr/bin', '/bin', '/usr/sbin', '/sbin']);
  const entries = (server.PATH ?? '').split(':').filter((entry) => entry !== '');
  return server.SHLVL === undefined && entries.every((entry) => standard.has(entry));
}

// Start-up files may print anything, so `env -0` is printed between two random marks.
async function readFrom(
  shell: string,
  flags: string,
  server: Environment,
  limitMs: number,
): Promise<Record<string, string> | null> {
  const mark = randomUUID();
  // `printf` joins the mark from two halves, so that a shell which echoes its commands does not print it.
  const print = `printf '%s%s' ${mark.slice(0, 18)} ${mark.slice(18)}`;
  const script = `${print}; env -0; ${print}`;
  const body = await between(mark, start(shell, [flags, script], { ...server, TERM: 'dumb' }), limitMs);
  if (!body) return null;
  const pairs = body.split('\0').filter((pair) => pair.includes('='));
  return Object.fromEntries(
    pairs.map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]),
  );
}

type LoginShell = ChildProcessByStdio<null, Readable, null>;

function start(program: string, args: readonly string[], env: Environment): LoginShell | null {
  try {
    return spawn(program, args, { env, detached: true, stdio: ['ignore', 'pipe', 'ignore'] });
  } catch {
    return null;
  }
}

/** The text that a process prints between two marks; null if it ends, or `limitMs` elapses, before the second one. */
function between(mark: string, child: LoginShell | null, limitMs: number): Promise<string | null> {
  return new Promise((resolve) => {
    if (!child) return resolve(null);
    let printed = Buffer.alloc(0);
    const finish = (text: string | null) => {
      clearTimeout(timer);
      child.removeAllListeners('close').stdout.removeAllListeners('data').destroy();
      if (child.pid !== undefined) sendSignal(-child.pid, 'SIGKILL');
      resolve(text);
    };
    const timer = setTimeout(() => finish(null), limitMs);
    child.stdout.on('data', (chunk: Buffer) => {
      printed = Buffer.concat([printed, chunk]);
      const [, body, rest] = printed.toString('utf8').split(mark);
      if (rest !== undefined) finish(body ?? null);
      else if (printed.length > maxBytes) finish(null);
    });
    child.once('error', () => finish(null));
    child.once('close', () => finish(null));
  });
}
