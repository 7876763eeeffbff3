// FIFOs and other objects in place of the files of a worker or a server.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { protocol } from '../../src/contract/wire.ts';
import { createOutliveHome } from '../support/outlive.ts';

function put(path: string, text?: string): void {
  mkdirSync(dirname(path), { recursive: true });
  if (text === undefined) execFileSync('mkfifo', [path]);
  else writeFileSync(path, text);
}

const dead = join('worker', `protocol-${protocol}`, 'worker-00000000000000aa');

test.each([
  ['the identity of a worker', join(dead, 'identity')],
  ['the spec of a command', join(dead, 'jobs', 'cmd_1', 'spec')],
  ['the secret of a server', join('control', '1_aa.sock.secret')],
])('a FIFO in place of %s delays neither servers nor nacre ps', { timeout: 120_000 }, async (_, file) => {
  const home = createOutliveHome();
  put(join(home.state, file));
  put(join(home.state, 'control', '1_aa.sock'), '');
  const client = await home.open();
  await client.call('start_command', { command: 'sleep 7200', name: 'kept' });
  expect(await home.nacre('ps')).toMatch(/kept +running/);
  await client.leave();
});

test('a FIFO in place of the log of a lost command is read as an empty log', {
  timeout: 120_000,
}, async () => {
  const home = createOutliveHome();
  const first = await home.open();
  await first.call('start_command', { command: 'echo up; sleep 7200', name: 'old' });
  const [worker] = home.workers();
  const [job = ''] = readdirSync(join(worker?.folder ?? '', 'jobs'));
  await first.kill();
  process.kill(worker?.pid ?? 0, 'SIGKILL');
  const log = join(worker?.folder ?? '', 'jobs', job, 'log');
  rmSync(log);
  put(log);
  const again = await home.open();
  expect(await again.call('list_commands', {})).toMatch(/"old".*lost/);
  expect(await again.call('read_output', { command_id: 'old', cursor: 0 })).toMatch(/stdout: ""/);
  await again.leave();
});
