import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { temporaryFolder } from '../../../tests/support/temporary-folder.ts';
import { Spool, SpoolFullError, SpoolQuota } from './spool.ts';

let folder = '';
let path = '';
beforeEach(() => {
  folder = temporaryFolder();
  path = join(folder, 'spool', 'cmd');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test('a quota grants no more than it has, and released bytes can be claimed again', () => {
  const quota = new SpoolQuota(10);
  expect([quota.claim(6), quota.claim(5), quota.claim(4), quota.claim(1)]).toEqual([
    true,
    false,
    true,
    false,
  ]);
  quota.release(6);
  expect(quota.claim(6)).toBe(true);
  expect(quota.usedBytes).toBe(10);
});

test('a spool creates a private file for its first block and removes it when disposed of', async () => {
  const quota = new SpoolQuota(100);
  const spool = new Spool(path, quota);
  expect(existsSync(path)).toBe(false);
  await spool.append([{ start: 0, bytes: Buffer.from('first') }]);
  await spool.append([
    { start: 5, bytes: Buffer.from('second') },
    { start: 11, bytes: Buffer.from('third') },
  ]);
  expect([statSync(path).mode & 0o777, statSync(join(folder, 'spool')).mode & 0o777]).toEqual([0o600, 0o700]);
  expect(readFileSync(path, 'utf8')).toBe('firstsecondthird');
  await spool.close();
  expect((await spool.blockAt(11)).buffer.toString()).toBe('third');
  expect((await spool.blockAt(10)).buffer.toString()).toBe('second');
  expect((await spool.blockAt(4)).buffer.toString()).toBe('first');
  await spool.dispose();
  await spool.dispose();
  expect(existsSync(path)).toBe(false);
  expect(quota.usedBytes).toBe(0);
});

test('a block that exceeds the quota is rejected with SpoolFullError, and nothing is written', async () => {
  const spool = new Spool(path, new SpoolQuota(4));
  await expect(spool.append([{ start: 0, bytes: Buffer.from('12345') }])).rejects.toBeInstanceOf(
    SpoolFullError,
  );
  expect(existsSync(path)).toBe(false);
});

test('a spool never writes to an existing file', async () => {
  mkdirSync(join(folder, 'spool'));
  writeFileSync(path, 'foreign');
  const quota = new SpoolQuota(100);
  const spool = new Spool(path, quota);
  await expect(spool.append([{ start: 0, bytes: Buffer.from('mine') }])).rejects.toMatchObject({
    code: 'EEXIST',
  });
  expect(readFileSync(path, 'utf8')).toBe('foreign');
  await spool.dispose();
  expect(readFileSync(path, 'utf8')).toBe('foreign');
  expect(quota.usedBytes).toBe(0);
});

test('reading from a truncated or deleted file is an error', async () => {
  const spool = new Spool(path, new SpoolQuota(100));
  await spool.append([{ start: 0, bytes: Buffer.from('0123456789') }]);
  await expect(new Spool(path, new SpoolQuota(1)).blockAt(0)).rejects.toThrow('not in the spool');
  appendFileSync(path, 'more');
  expect((await spool.blockAt(9)).buffer.toString()).toBe('0123456789');
  truncateSync(path, 3);
  await expect(spool.blockAt(0)).rejects.toThrow('shorter');
  rmSync(path);
  await spool.close();
  await expect(spool.blockAt(0)).rejects.toMatchObject({ code: 'ENOENT' });
  await spool.dispose();
});

test('spools of ended commands give way to others, the first that ended first', async () => {
  const quota = new SpoolQuota(12);
  const create = async (name: string) => {
    const spool = new Spool(join(folder, 'spool', name), quota);
    await spool.append([{ start: 0, bytes: Buffer.from('1234') }]);
    return spool;
  };
  const [one, two, three] = [await create('one'), await create('two'), await create('three')];
  await two.close();
  await one.close();
  await three.append([{ start: 4, bytes: Buffer.from('567') }]);
  expect([one.isEvicted, two.isEvicted, three.isEvicted]).toEqual([false, true, false]);
  await expect.poll(() => existsSync(join(folder, 'spool', 'two'))).toBe(false);
  expect((await one.blockAt(0)).buffer.toString()).toBe('1234');
  await three.append([{ start: 7, bytes: Buffer.from('89') }]);
  expect(one.isEvicted).toBe(true);
  await expect(three.append([{ start: 9, bytes: Buffer.from('long!') }])).rejects.toBeInstanceOf(
    SpoolFullError,
  );
  for (const spool of [one, two, three]) await spool.dispose();
  expect(quota.usedBytes).toBe(0);
});
