import { spawnSync } from 'node:child_process';
import {
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { temporaryFolder } from '../../tests/support/temporary-folder.ts';
import { withLock } from './file-lock.ts';

let folder = '';
let path = '';
beforeEach(() => {
  folder = temporaryFolder();
  path = join(folder, 'lock');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const agedBy = (ms: number) => {
  const time = (Date.now() - ms) / 1_000;
  utimesSync(path, time, time);
};
const endedPid = () => spawnSync('true').pid;

test('the lock exists while the step runs, and is removed even if the step throws', () => {
  expect(withLock(path, () => readFileSync(path, 'utf8'))).toBe(String(process.pid));
  expect(() =>
    withLock(path, () => {
      throw new Error('inside');
    }),
  ).toThrow('inside');
  expect(readdirSync(folder)).toEqual([]);
});

test('the lock of a process that took over in the meantime stays', () => {
  withLock(path, () => {
    // Rename instead of removing, so that the new file cannot get the same inode.
    renameSync(path, join(folder, 'old'));
    writeFileSync(path, '1');
  });
  expect(readFileSync(path, 'utf8')).toBe('1');
});

test('the lock of a dead process is removed', () => {
  for (const text of [String(endedPid()), '']) {
    writeFileSync(path, text);
    agedBy(1_000);
    expect(withLock(path, () => 'mine')).toBe('mine');
  }
  expect(readdirSync(folder)).toEqual([]);
});

test('a stale lock is removed even if its process is alive', () => {
  writeFileSync(path, String(process.pid));
  agedBy(10_000);
  expect(withLock(path, () => 'mine')).toBe('mine');
});

test('a recent lock is waited for even if its process is dead', () => {
  writeFileSync(path, String(endedPid()));
  const start = Date.now();
  expect(withLock(path, () => Date.now() - start)).toBeGreaterThan(100);
  expect(existsSync(path)).toBe(false);
});

test('throws if the lock file cannot be created', () => {
  expect(() => withLock(join(folder, 'none', 'lock'), () => 'never')).toThrow('ENOENT');
});
