// The bootstrap of a worker over a stand-in for ssh, which runs the command of the host on this machine with another home.
import { chmodSync, existsSync, mkdirSync, readdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { builtWorker } from '../../../tests/support/build.ts';
import { processesWith } from '../../../tests/support/processes.ts';
import { readAll } from '../../../tests/support/read-all.ts';
import { toRemote } from '../../../tests/support/roads.ts';
import { temporaryFolder } from '../../../tests/support/temporary-folder.ts';
import { workerOptionsIn } from '../../../tests/support/worker-options.ts';
import { createRemoteBackend } from '../remote/create-remote-backend.ts';
import { createRoad } from './create-road.ts';

/** A machine whose login shell is `shell`, with links to the named programs and nothing else on its PATH. */
const createMachine = (programs: readonly string[], { shell = '/bin/sh', banner = '' } = {}) => {
  const folder = temporaryFolder();
  const [near, far, home] = ['near', 'far', 'home'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  for (const path of [near, far, home]) mkdirSync(path);
  for (const program of programs) symlinkSync(findProgram(program), join(far, program));
  writeFileSync(join(near, 'ssh'), toStandIn(far, home, shell, banner));
  chmodSync(join(near, 'ssh'), 0o755);
  const environment = { PATH: `${near}:/usr/bin:/bin` };
  const road = createRoad(
    { name: 'm', road: { kind: 'ssh', host: 'm' }, orphanMs: 1_000, limits: {} },
    { program: builtWorker, build: 'test', environment, cwd: folder },
  );
  onTestFinished(() => road.remove?.());
  return { road, home, cache: join(home, '.cache/nacre'), folder };
};

const findProgram = (name: string) =>
  name === 'node'
    ? process.execPath
    : (['/usr/bin', '/bin'].map((at) => join(at, name)).find(existsSync) ?? '');

const toStandIn = (path: string, home: string, shell: string, banner: string) =>
  [
    '#!/bin/sh',
    `printf '%s' '${banner}'`,
    'for word; do :; done',
    `exec env -i PATH=${path} HOME=${home} ${shell} -c "$word"`,
    '',
  ].join('\n');

const usual = [
  'sh',
  'bash',
  'env',
  'uname',
  'mkdir',
  'head',
  'chmod',
  'mv',
  'rm',
  'sha256sum',
  'id',
  'cat',
  'seq',
];

const runThere = async ({ road, folder }: ReturnType<typeof createMachine>, script: string) => {
  const backend = createRemoteBackend({ ...toRemote(workerOptionsIn(folder)), road });
  const spec = { command: { kind: 'shell', script }, cwd: folder, env: {}, stdin: 'empty' } as const;
  try {
    await backend.prepare({ id: 'one', ...spec, timeoutMs: null });
    await backend.start('one');
    return (await readAll(backend, 'one')).stdout;
  } finally {
    await backend.shutdown();
    await backend.close();
  }
};

test('the files of the worker are stored once, by their digest, for their user alone', async () => {
  const machine = createMachine([...usual, 'node'], { banner: 'Welcome!\n3 updates\n' });
  expect(await runThere(machine, 'seq 3')).toBe('1\n2\n3\n');
  const [digest = '', ...others] = readdirSync(machine.cache).filter((name) => /^[0-9a-f]{64}$/.test(name));
  expect(others).toEqual([]);
  const before = statSync(join(machine.cache, digest, 'worker.js'));
  expect(before.mode & 0o077).toBe(0);
  expect(await runThere(machine, 'echo again')).toBe('again\n');
  expect(statSync(join(machine.cache, digest, 'worker.js')).ino).toBe(before.ino);
  expect(readdirSync(machine.home)).toEqual(['.cache']);
});

test('a machine without Node gets the Node binary of this machine', { timeout: 120_000 }, async () => {
  const machine = createMachine(usual);
  expect(await runThere(machine, 'echo hi')).toBe('hi\n');
  expect(statSync(join(machine.cache, 'node/node')).size).toBe(statSync(process.execPath).size);
});

test('removing the road ends a program that still receives Node', { timeout: 60_000 }, async () => {
  const { road, folder } = createMachine(usual.filter((name) => name !== 'head'));
  writeFileSync(join(folder, 'far/head'), '#!/bin/sh\nexec /usr/bin/sleep 3000077\n', { mode: 0o755 });
  const opening = expect(road.open()).rejects.toThrow();
  const receiving = () => processesWith('sleep\u00003000077');
  await expect.poll(receiving).toHaveLength(1);
  await road.remove?.();
  await opening;
  await expect.poll(receiving).toEqual([]);
});

test('a machine without bash is refused', async () => {
  const { road } = createMachine(usual.filter((name) => name !== 'bash'));
  await expect(road.open()).rejects.toMatchObject({
    code: 'resources_unavailable',
    message: 'The machine m cannot be used: it has no bash.',
  });
});

test('a home that cannot be written is named, with the reason', async () => {
  const { road, home } = createMachine([...usual, 'node']);
  writeFileSync(join(home, '.cache'), 'a file');
  await expect(road.open()).rejects.toThrow('the worker cannot be stored in ~/.cache/nacre');
});

test('a folder that others can write is refused', async () => {
  const { road, cache } = createMachine([...usual, 'node']);
  mkdirSync(cache, { recursive: true });
  chmodSync(cache, 0o777);
  await expect(road.open()).rejects.toThrow('others can write to it');
});

test('a machine that sends no valid message is refused with the beginning of its output', async () => {
  const { road } = createMachine([...usual, 'node'], { shell: '/bin/echo This account is closed.' });
  await expect(road.open()).rejects.toThrow('it sent: This account is closed.');
});

test('a machine that sends endless output instead of a message is refused', async () => {
  const { road } = createMachine([...usual, 'node'], { shell: '/usr/bin/yes --' });
  await expect(road.open()).rejects.toThrow('it sent 64 KiB of other output instead of a message');
});
