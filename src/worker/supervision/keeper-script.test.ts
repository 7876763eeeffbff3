import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { expect, test } from 'vitest';
import { processesWith } from '../../../tests/support/processes.ts';
import { temporaryFolder } from '../../../tests/support/temporary-folder.ts';
import { parseKeeperMessage, toKeeperScript, untilParentSleeps } from './keeper-script.ts';

// `unshare` needs a user namespace, unless it runs as root.
const userNamespace = process.getuid?.() === 0 ? [] : ['--user', '--map-current-user'];

test('E2: a keeper is not ready before the init process of its namespace sleeps', async () => {
  const folder = temporaryFolder();
  const go = join(folder, 'go');
  const init = '"$BASH" -c "$1" bash & while [[ ! -e $2 ]]; do :; done; wait';
  const namespace = [...userNamespace, '--pid', '--fork', '--mount-proc', '--kill-child'];
  const child = spawn('unshare', [...namespace, 'bash', '-c', init, 'bash', toKeeperScript(), go], {
    stdio: ['pipe', 'ignore', 'ignore', 'pipe', 'pipe'],
    env: { PATH: '/usr/bin:/bin', KEEPER: folder },
  });
  try {
    let messages = '';
    (child.stdio[3] as Readable).on('data', (bytes: Buffer) => {
      messages += bytes.toString();
    });
    await expect.poll(() => processesWith(`KEEPER=${folder}`).length).toBeGreaterThanOrEqual(3);
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(messages).toBe('');
    writeFileSync(go, '');
    await expect.poll(() => messages, { timeout: 10_000 }).toMatch(/^ready\0/);
  } finally {
    child.kill('SIGKILL');
    await once(child, 'exit');
    rmSync(folder, { recursive: true });
  }
  await expect.poll(() => processesWith(`KEEPER=${folder}`), { timeout: 5_000 }).toEqual([]);
});

test('a background process does not continue before the shell that forked it sleeps', async () => {
  const folder = temporaryFolder();
  const go = join(folder, 'go');
  const script = `{ ${untilParentSleeps}; echo sleeps; } & while [[ ! -e $1 ]]; do :; done; wait`;
  const child = spawn('bash', ['-c', script, 'bash', go], { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.on('data', (bytes: Buffer) => {
    output += bytes.toString();
  });
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(output).toBe('');
  writeFileSync(go, '');
  expect(await once(child, 'close')).toEqual([0, null]);
  expect(output).toBe('sleeps\n');
});

test('a keeper whose fork() failed at first is ready, although bash reports that on the same descriptor', () => {
  const retry = 'bash: fork: retry: Resource temporarily unavailable\n';
  expect(parseKeeperMessage(`${retry}${retry}ready`)).toEqual({ kind: 'ready' });
  expect(parseKeeperMessage('not ready')).toBeUndefined();
});

test('the CPU time in an `ended` message is parsed in any locale', () => {
  const parse = (point: string) =>
    parseKeeperMessage(`ended 3 4 0m0${point}001s 0m0${point}002s\n1m2${point}003s 0m0${point}040s\n`);
  const expected = { kind: 'ended', status: 3, isKilled: false, processes: 4, cpuMs: 62_043 };
  expect([parse('.'), parse(',')]).toEqual([expected, expected]);
  expect(parseKeeperMessage('ended 3 4')).toBeUndefined();
});

test('the line of `jobs` distinguishes a signal from an exit code', () => {
  const parse = (lines: string, status = 137) =>
    parseKeeperMessage(`${lines}ended ${status} 4 0m0.001s 0m0.002s\n0m0.003s 0m0.040s\n`);
  const noise = 'bash: line 4: 137 Killed  run\n';
  expect(parse(`${noise}[1]+  Killed        run 0<&0\n`)).toMatchObject({ status: 137, isKilled: true });
  expect(parse('[1]+  Exit 137            run 0<&0\n')).toMatchObject({ status: 137, isKilled: false });
  expect(parse('[1]+  Fertig              run 0<&0\n', 0)).toMatchObject({ status: 0, isKilled: false });
  expect(parse(noise)).toMatchObject({ status: 137, isKilled: false });
});
