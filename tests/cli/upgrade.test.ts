// The steps of docs/guide/upgrading.md and docs/guide/backup.md, with the state folder of an earlier version.
import { chmodSync, cpSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createPlace, startInProcess, survivors } from '../support/nacre.ts';

// Written by an early 0.1.0: a command that completed, one that failed, and one that was refused.
const earlier = 'tests/fixtures/state-0.1.0';

function createUpgraded() {
  // The records of the fixture become older than the default of `audit_keep_days`.
  const place = createPlace({ NACRE_AUDIT_KEEP_DAYS: '36500' });
  const state = join(place.cwd, '.local', 'state', 'nacre');
  for (const name of ['audit', 'recordings'])
    cpSync(join(earlier, name), join(state, name), { recursive: true });
  mkdirSync(join(place.cwd, '.config', 'nacre'), { recursive: true });
  cpSync(join(earlier, 'config.yaml'), join(place.cwd, '.config', 'nacre', 'config.yaml'));
  const run = (...words: string[]) => startInProcess(words, place).ended;
  return { ...place, state, run };
}

test('a new version reads and continues the audit log, settings and recordings of an earlier one', async () => {
  const { run, mark } = createUpgraded();
  expect(await run('audit', 'verify')).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^Intact: 11 records in 3 files/),
  });
  expect(await run('run', 'echo second')).toMatchObject({ code: 0, stdout: 'second\n' });
  expect((await run('run', 'wc x')).stderr).toContain('echo, ls, git');
  const { stdout: verified } = await run('audit', 'verify');
  expect(verified).toMatch(/^Intact: 1[5-9] records in 5 files/);
  const { stdout: history } = await run('history', '--json');
  for (const command of ['echo first', 'exit 3', 'rm -rf /nowhere', 'echo second'])
    expect(history).toContain(JSON.stringify(command));
  const { stdout: replayed } = await run('replay', 'cmd_179923a74146', '--speed', '1000');
  expect(replayed).toBe('first\r\n');
  expect(await survivors(mark)).toEqual([]);
});

test('a restored backup is intact and continues; a partial one is reported', async () => {
  const { run, state, cwd, mark } = createUpgraded();
  await run('run', 'echo before');
  const backup = join(cwd, 'backup');
  cpSync(state, backup, { recursive: true });

  rmSync(state, { recursive: true });
  expect((await run('history')).stdout).not.toContain('echo first');
  rmSync(state, { recursive: true, force: true });
  cpSync(backup, state, { recursive: true });
  expect((await run('audit', 'verify')).stdout).toMatch(/^Intact: 15 records in 4 files/);
  expect((await run('run', 'echo after')).code).toBe(0);
  expect((await run('audit', 'verify')).stdout).toMatch(/^Intact: 19 records in 5 files/);
  const { stdout } = await run('history');
  for (const command of ['echo first', 'echo before', 'echo after']) expect(stdout).toContain(command);

  const [oldest = ''] = readdirSync(join(state, 'audit')).filter((name) => /^2026/.test(name));
  renameSync(join(state, 'audit', oldest), join(cwd, oldest));
  expect((await run('audit', 'verify')).code).toBe(1);
  expect(await survivors(mark)).toEqual([]);
});

test('a setting that no longer exists is named', async () => {
  const { run, cwd } = createUpgraded();
  const file = join(cwd, '.config', 'nacre', 'config.yaml');
  chmodSync(file, 0o600);
  writeFileSync(file, 'allowed_commandz: [ls]\n');
  const { code, stderr } = await run('run', 'echo x');
  expect(code).toBe(125);
  expect(stderr).toMatch(/config\.yaml:1: .*allowed_commandz.*allowed_commands/);
});
