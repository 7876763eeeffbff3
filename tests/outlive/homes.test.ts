// Homes and users that are unusual: commands outlive their server there as well.
import { chownSync, mkdirSync, symlinkSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { needRoot } from '../support/needs.ts';
import { createOutliveHome, type OutliveHome } from '../support/outlive.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { cliFor } from '../support/users.ts';

const slow = { timeout: 120_000 };

async function expectToOutlive(home: OutliveHome): Promise<void> {
  const first = await home.open();
  await first.call('start_command', { command: 'echo begun; sleep 7300', name: 'kept', wait_for: 'begun' });
  await first.kill();
  const next = await home.open();
  expect(await next.call('list_commands', {})).toMatch(/"kept".*running/);
  expect(await next.call('read_output', { command_id: 'kept', cursor: 0 })).toContain('begun');
  expect(await home.nacre('logs', 'kept')).toBe('begun\n');
  await next.call('stop_command', { command_id: 'kept' });
  await next.leave();
}

const homes = {
  'a blank and a quote in its path': () => join(temporaryFolder(), "my 'own' home"),
  'a path that is longer than the address of a socket': () =>
    join(temporaryFolder(), 'long'.repeat(30), 'home'),
  'a link in its path': () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, 'real'));
    symlinkSync('real', join(folder, 'link'));
    return join(folder, 'link');
  },
};

test.each(Object.entries(homes))('commands outlive their server in a home with %s', slow, async (_, at) => {
  await expectToOutlive(createOutliveHome({ folder: at() }));
});

test('commands outlive a server that was started with umask 777', slow, async () => {
  const home = createOutliveHome();
  const before = process.umask(0o777);
  const first = home.open().finally(() => process.umask(before));
  await (await first).call('start_command', { command: 'sleep 7301', name: 'kept' });
  await (await first).kill();
  const next = await home.open();
  expect(await next.call('list_commands', {})).toMatch(/"kept".*running/);
  await next.kill();
});

test('an ordinary user has a worker that other users cannot reach', slow, async (context) => {
  needRoot(context);
  const folder = temporaryFolder();
  const { cli, identity } = cliFor('ordinary', folder);
  const home = createOutliveHome({ folder, cli, uid: identity.uid });
  chownSync(home.project, identity.uid ?? 0, identity.gid ?? 0);
  const first = await home.open();
  await first.call('start_command', { command: 'sleep 7302', name: 'kept' });
  const [worker] = home.workers();
  const other = createOutliveHome({ folder: join(folder, 'other') });
  expect(await (await other.open()).call('list_commands', {})).toContain('commands: []');
  process.seteuid?.(65_533);
  try {
    const failed = await new Promise<NodeJS.ErrnoException>((resolve) =>
      connect(join(worker?.folder ?? '', 'socket')).on('error', resolve),
    );
    expect(failed.code).toBe('EACCES');
  } finally {
    process.seteuid?.(0);
  }
  await first.kill();
  const next = await home.open();
  expect(await next.call('list_commands', {})).toMatch(/"kept".*running/);
  await next.kill();
});
