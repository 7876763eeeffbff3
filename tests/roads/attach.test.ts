// dist/worker.js with the files of its upload, alone in a folder, as on another machine.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createRemoteBackend } from '../../src/backends/remote/create-remote-backend.ts';
import { workerFiles } from '../../src/backends/roads/worker-files.ts';
import { spawnFar } from '../../src/worker/road/spawn-far.ts';
import { builtWorker } from '../support/build.ts';
import { needPty } from '../support/needs.ts';
import { readAll } from '../support/read-all.ts';
import { toRemote } from '../support/roads.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { workerOptionsIn } from '../support/worker-options.ts';

const copyWorker = () => {
  const folder = temporaryFolder();
  for (const { path, content } of workerFiles(builtWorker)) {
    const target = join(folder, path);
    mkdirSync(dirname(target), { recursive: true });
    writeFileSync(target, content);
  }
  return folder;
};

const attach = (folder: string, banner = '') => {
  const environment = { PATH: process.env.PATH ?? '' };
  const words = [process.execPath, join(folder, 'worker.js'), 'attach', join(folder, 'workers'), 'test'];
  return spawnFar(['sh', '-c', `${banner} exec "$@"`, 'sh', ...words], environment);
};

const openBackend = (folder: string, banner?: string) => {
  const backend = createRemoteBackend({
    ...toRemote(workerOptionsIn(folder)),
    road: { open: async () => attach(folder, banner).stream },
  });
  onTestFinished(async () => {
    await backend.shutdown();
    await backend.close();
  });
  return backend;
};

test('a copied worker runs commands behind stdin and stdout, after the banner of a shell', async () => {
  const folder = copyWorker();
  const backend = openBackend(folder, 'echo "Welcome! 3 updates are available.";');
  const command = { kind: 'shell', script: 'echo out; exit 3' } as const;
  await backend.prepare({ id: 'one', command, cwd: folder, env: {}, stdin: 'empty', timeoutMs: null });
  await backend.start('one');
  expect(await readAll(backend, 'one')).toEqual({ stdout: 'out\n', stderr: '' });
  expect(await backend.wait('one', 20_000)).toMatchObject({ end: { exitCode: 3 } });
});

test('a copied worker opens terminals', async (context) => {
  await needPty(context);
  const folder = copyWorker();
  const backend = openBackend(folder);
  const command = { kind: 'shell', script: 'test -t 0 && stty size' } as const;
  const terminal = { cols: 91, rows: 23 };
  const spec = { command, terminal, cwd: folder, env: {}, stdin: 'open', timeoutMs: null } as const;
  await backend.prepare({ id: 'one', ...spec });
  await backend.start('one');
  expect((await readAll(backend, 'one')).stdout).toContain('23 91');
});

test('a second attach reaches the same worker', async () => {
  const folder = copyWorker();
  const [one, two] = [openBackend(folder), openBackend(folder)];
  const spec = { cwd: folder, env: {}, stdin: 'empty', timeoutMs: null } as const;
  const parents: string[] = [];
  for (const [index, backend] of [one, two].entries()) {
    const id = `job-${index}`;
    // The parent of the worker's children is the worker or its helper; its log is in the folder of the worker.
    await backend.prepare({ id, command: { kind: 'shell', script: 'ls workers | grep ^worker-' }, ...spec });
    await backend.start(id);
    parents.push((await readAll(backend, id)).stdout);
  }
  expect(parents[0]).toMatch(/^worker-[0-9a-f]+\n$/);
  expect(parents[1]).toBe(parents[0]);
});

test('an attach that cannot start a worker says so and fails', async () => {
  const folder = copyWorker();
  writeFileSync(join(folder, 'workers'), 'not a folder');
  const { stream, ended } = attach(folder);
  onTestFinished(() => void stream.destroy());
  expect(await ended).toMatchObject({ code: 1, stderr: expect.stringContaining('could not be started in') });
});
