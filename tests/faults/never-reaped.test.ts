import { execFile } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { builtCli, builtGuard } from '../support/build.ts';
import { buildChild } from '../support/child.ts';
import { soakCount } from '../support/soak.ts';

const run = promisify(execFile);
let folder: string;
let program: string;
let serverProgram: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'nacre-reaped-'));
  chmodSync(folder, 0o755);
  mkdirSync(join(folder, 'tmp'));
  chmodSync(join(folder, 'tmp'), 0o1777);
  program = join(folder, 'never-reaped.mjs');
  await buildChild('never-reaped', program);
  serverProgram = join(folder, 'never-reaped-server.mjs');
  await buildChild('never-reaped-server', serverProgram);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

// `sleep` is PID 1 of a new pid namespace; `nsenter` starts the program there, whose own parent is outside.
const inNamespace = [
  'unshare --pid --fork --kill-child --mount-proc sleep 600 & holder=$!',
  'until first=$(pgrep -P "$holder") && [ -e /proc/$first/ns/pid ]; do sleep 0.01; done',
  'nsenter --target "$first" --pid --mount "$@"; status=$?',
  'kill -9 "$first" "$holder" 2>/dev/null; exit "$status"',
].join('\n');

async function runInNamespace(words: readonly string[]): Promise<unknown> {
  const args = ['-c', inNamespace, 'bash', process.execPath, ...words];
  const env = { ...process.env, TMPDIR: join(folder, 'tmp') };
  const { stdout } = await run('bash', args, { env, timeout: soakCount(590_000, 58_000) });
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
}

test.concurrent.each([
  ['namespace', 'off', ''],
  ['namespace', 'workspace', ''],
  ['namespace', 'workspace', 'ordinary'],
  ['unshare', 'off', ''],
  ['group', 'off', ''],
  ['group', 'workspace', 'ordinary'],
])(
  'where PID 1 reaps nothing, no zombie is left at level %s with sandbox %s %s',
  {
    timeout: soakCount(600_000, 60_000),
  },
  async (level, sandbox, user) => {
    const rounds = String(soakCount(112, 1));
    const found = await runInNamespace([program, level, sandbox, rounds, user, builtGuard]);
    expect(found).toEqual({ zombiesWhileRunning: [], left: [] });
  },
);

test('where PID 1 reaps nothing, a server and its detached worker leave no process', async () => {
  expect(await runInNamespace([serverProgram, builtCli])).toEqual([]);
}, 60_000);
