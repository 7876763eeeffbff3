// Two versions of nacre with the same home: the new one uses the worker of the old one if both have the same protocol.
import { cpSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { protocol } from '../../src/contract/wire.ts';
import { builtCli } from '../support/build.ts';
import { createOutliveHome } from '../support/outlive.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const slow = { timeout: 180_000 };
const patient = { timeout: 60_000, interval: 100 };
const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { readonly version: string };

/** A copy of dist/ in which each text is replaced by another; returns its command line. */
function copyOf(replacements: Readonly<Record<string, string>>): string {
  const folder = temporaryFolder();
  const dist = join(folder, 'dist');
  cpSync(dirname(builtCli), dist, { recursive: true });
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'));
  const replaced = new Set<string>();
  for (const name of readdirSync(dist).filter((file) => /\.c?js$/.test(file))) {
    const before = readFileSync(join(dist, name), 'utf8');
    let after = before;
    for (const [old, text] of Object.entries(replacements)) {
      if (after.includes(old)) replaced.add(old);
      after = after.replaceAll(old, text);
    }
    if (after !== before) writeFileSync(join(dist, name), after);
  }
  expect([...replaced].sort()).toEqual(Object.keys(replacements).sort());
  return join(dist, 'cli.js');
}

test('a new version uses a worker of the same protocol, and reattaches to its commands', slow, async () => {
  const home = createOutliveHome();
  const first = await home.open();
  const script = 'echo begun; read x; echo "got $x"; exit 6';
  await first.call('start_command', { command: script, name: 'old', wait_for: 'begun' });
  await first.call('Bash', { command: 'value=42' });
  await first.kill();
  const [worker] = home.workers();
  const newer = copyOf({ [`"${version}"`]: '"99.0.0"' });
  const next = await home.open('tester', newer);
  expect(await next.call('list_commands', {})).toMatch(/"old".*running/);
  await next.call('start_command', { command: 'sleep 7501', name: 'new' });
  expect(home.workers()).toEqual([worker]);
  expect(worker?.build).toBe(version);
  expect(await next.call('Bash', { command: 'echo "value $value"' })).toContain('value 42');
  await next.call('write_input', { command_id: 'old', text: 'hello', keys: ['Enter'] });
  const read = async () => (await next.use('read_output', { command_id: 'old', cursor: 0 })).structured;
  await expect.poll(read, patient).toMatchObject({ stdout: 'begun\ngot hello\n', exit_code: 6 });
  await next.kill();
  // Going back to the old version works in the same way.
  const last = await home.open();
  expect(await last.call('list_commands', {})).toMatch(/"new".*running/);
  expect(await last.call('stop_command', { command_id: 'new' })).toContain('killed');
  await last.kill();
});

test('a version of another protocol starts its own worker, and the old one ends with its last command', {
  ...slow,
}, async () => {
  const home = createOutliveHome();
  const first = await home.open();
  await first.call('start_command', {
    ...{ command: 'while [ ! -e enough ]; do sleep 0.05; done', name: 'old' },
  });
  await first.kill();
  const [old] = home.workers();
  const other = copyOf({
    [`nacre-wire ${protocol}`]: `nacre-wire ${protocol + 1}`,
    [`protocol-\${${protocol}}`]: `protocol-\${${protocol + 1}}`,
  });
  const next = await home.open('tester', other);
  // It cannot know what the old worker keeps, and must not disturb it.
  expect(await next.call('list_commands', {})).toContain('commands: []');
  await next.call('start_command', { command: 'sleep 7502', name: 'new' });
  expect(home.workers().map(({ pid }) => pid)).toContain(old?.pid);
  expect(home.workers()).toHaveLength(2);
  await next.kill();
  const again = await home.open();
  expect(await again.call('list_commands', {})).toMatch(/"old".*running/);
  await again.kill();
  writeFileSync(join(home.project, 'enough'), '');
  await expect.poll(() => home.workers().map(({ pid }) => pid), patient).not.toContain(old?.pid);
  const last = await home.open('tester', other);
  expect(await last.call('list_commands', {})).toMatch(/"new".*running/);
  await last.kill();
  const ended = await home.open();
  expect(await ended.call('list_commands', {})).toMatch(/"old".*exit_code: 0/);
  await ended.kill();
});

test('nacre shutdown ends workers of every protocol', slow, async () => {
  const home = createOutliveHome();
  const other = copyOf({
    [`nacre-wire ${protocol}`]: `nacre-wire ${protocol + 1}`,
    [`protocol-\${${protocol}}`]: `protocol-\${${protocol + 1}}`,
  });
  for (const program of [builtCli, other]) {
    const client = await home.open('tester', program);
    await client.call('start_command', { command: 'sleep 7503', name: 'kept' });
    await client.kill();
  }
  expect(home.workers()).toHaveLength(2);
  expect(await home.nacre('shutdown')).toContain('Ended the worker');
  await expect.poll(() => home.processes(), patient).toEqual([]);
  expect(home.workers()).toEqual([]);
});
