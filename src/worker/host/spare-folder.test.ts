import { existsSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../../tests/support/temporary-folder.ts';
import { sleep } from '../../support/timing.ts';
import { type KeptSpec, readKept } from './kept-job.ts';
import { SpareFolder } from './spare-folder.ts';

const specOf = (id: string): KeptSpec => ({
  ...{ id, command: { kind: 'shell', script: 'true' }, cwd: '/', stdin: 'empty', link: 'link' },
  keeping: {
    ...{ identity: 'one', room: 'one', outlives: true, caller: { door: 'cli', client: 'test' } },
  },
  ...{ preparedAt: '2026-01-01T00:00:00.000Z', tombstoneMs: 1_000 },
});

test('each command has a private folder with its spec, with or without a spare one', async () => {
  const root = temporaryFolder();
  mkdirSync(join(root, 'jobs'));
  const spare = new SpareFolder(join(root, 'jobs-spare'));
  const waiting = () => (existsSync(join(root, 'jobs-spare')) ? readdirSync(join(root, 'jobs-spare')) : []);
  for (const id of ['one', 'two', 'three', 'four']) {
    const folder = join(root, 'jobs', id);
    spare.write(folder, specOf(id));
    expect(readKept(folder)?.spec).toEqual(specOf(id));
    expect([statSync(folder).mode & 0o777, statSync(join(folder, 'spec')).mode & 0o777]).toEqual([
      0o700, 0o600,
    ]);
    if (id !== 'one') await expect.poll(waiting).toHaveLength(1);
  }
  spare.close();
  expect(readdirSync(root)).toEqual(['jobs']);
});

test('a spare folder that was removed is replaced by another one', async () => {
  const root = temporaryFolder();
  mkdirSync(join(root, 'jobs'));
  const spare = new SpareFolder(join(root, 'jobs-spare'));
  spare.write(join(root, 'jobs', 'one'), specOf('one'));
  await expect.poll(() => existsSync(join(root, 'jobs-spare'))).toBe(true);
  rmSync(join(root, 'jobs-spare'), { recursive: true });
  spare.write(join(root, 'jobs', 'two'), specOf('two'));
  expect(readKept(join(root, 'jobs', 'two'))?.spec.id).toBe('two');
  spare.close();
});

test('without the folder of its worker, a command is refused with the reason, and the folder is not created again', async () => {
  const root = temporaryFolder();
  const worker = join(root, 'worker');
  mkdirSync(join(worker, 'jobs'), { recursive: true });
  const spare = new SpareFolder(join(worker, 'jobs-spare'));
  rmSync(worker, { recursive: true });
  const folder = join(worker, 'jobs', 'one');
  expect(() => spare.write(folder, specOf('one'))).toThrow(
    expect.objectContaining({
      code: 'resources_unavailable',
      message: expect.stringContaining(`Cannot use nacre's own folder ${folder}: ENOENT`),
    }),
  );
  await sleep(50);
  spare.close();
  expect(readdirSync(root)).toEqual([]);
});
