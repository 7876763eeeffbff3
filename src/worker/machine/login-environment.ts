import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import type { Readable } from 'node:stream';
import type { Environment } from './environment.ts';

/** Where the login shell's environment was taken from, or why not. */
export interface LoginEnvironment {
  readonly env: Environment;
  /** A sentence for `doctor`. */
  readonly note: string;
}

/** When to ask the login shell: never, always, or only where the server's own PATH looks like a desktop app's. */
export type LoginEnvMode = 'auto' | 'always' | 'never';

// Start-up files of interactive shells take their time; a plain login shell is asked when that one does not answer.
const interactiveMs = 3_000;
const plainMs = 1_500;
const maxBytes = 1_048_576;

/** Takes the login shell's environment where it is wanted; never fails and never takes longer than its limits. */
export async function takeLoginEnvironment(
  server: Environment,
  mode: LoginEnvMode,
): Promise<LoginEnvironment> {
  if (mode === 'never') return { env: server, note: 'not asked for (login_env: never)' };
  if (!asksLoginShell(server, mode)) return { env: server, note: 'not needed: PATH is that of a shell' };
  const shell = server.SHELL || '/bin/bash';
  const found =
    (await ask(shell, '-ilc', server, interactiveMs)) ?? (await ask(shell, '-lc', server, plainMs));
  if (!found) {
    const seconds = (interactiveMs + plainMs) / 1_000;
    return { env: server, note: `${shell} did not tell its environment within ${seconds} s` };
  }
  const { PWD: _pwd, OLDPWD: _oldpwd, SHLVL: _shlvl, _: _last, ...login } = found;
  return {
    env: { ...login, ...server, PATH: login.PATH ?? server.PATH ?? '' },
    note: `taken from ${shell}`,
  };
}

/** Whether the login shell is asked at all. */
export function asksLoginShell(server: Environment, mode: LoginEnvMode): boolean {
  return mode === 'always' || (mode === 'auto' && isBare(server));
}

/** True for the environment that desktop apps start servers with: no shell above us, only the system's PATH. */
export function isBare(server: Environment): boolean {
  const standard = new Set(['/usr/local/bin', '/usr/local/sbin', '/usr/bin', '/bin', '/usr/sbin', '/sbin']);
  const entries = (server.PATH ?? '').split(':').filter((entry) => entry !== '');
  return server.SHLVL === undefined && entries.every((entry) => standard.has(entry));
}

// An interactive start-up file may print anything, so the variables stand between two marks nobody else prints.
async function ask(
  shell: string,
  flags: string,
  server: Environment,
  limitMs: number,
): Promise<Record<string, string> | null> {
  const mark = randomUUID();
  // The mark is put together by the shell, so that one which echoes its commands does not print it.
  const print = `printf '%s%s' ${mark.slice(0, 18)} ${mark.slice(18)}`;
  const script = `${print}; env -0; ${print}`;
  const body = await between(mark, start(shell, [flags, script], { ...server, TERM: 'dumb' }), limitMs);
  if (!body) return null;
  const pairs = body.split('\0').filter((pair) => pair.includes('='));
  return Object.fromEntries(
    pairs.map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]),
  );
}

type Shell = ChildProcessByStdio<null, Readable, null>;

function start(program: string, args: readonly string[], env: Environment): Shell | null {
  try {
    return spawn(program, args, { env, detached: true, stdio: ['ignore', 'pipe', 'ignore'] });
  } catch {
    return null;
  }
}

/** What a process prints between two marks; null when it ends, or the limit is over, before the second one. */
function between(mark: string, child: Shell | null, limitMs: number): Promise<string | null> {
  return new Promise((resolve) => {
    if (!child) return resolve(null);
    let printed = Buffer.alloc(0);
    const finish = (text: string | null) => {
      clearTimeout(timer);
      child.removeAllListeners('close').stdout.removeAllListeners('data').destroy();
      endGroup(child.pid);
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

function endGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // Nothing of it is left.
  }
}
