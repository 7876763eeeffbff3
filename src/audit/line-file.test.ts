import { appendFileSync, mkdirSync, readFileSync, rmSync, symlinkSync, truncateSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { temporaryFolder } from '../../tests/support/temporary-folder.ts';

import { createLineFile } from './line-file.ts';

let folder = '';
let path = '';
beforeEach(() => {
  folder = temporaryFolder();
  path = join(folder, 'deep', 'lines');
});
afterEach(() => {
  vi.useRealTimers();
  rmSync(folder, { recursive: true, force: true });
});

test('lines are in the file when append returns, and later fsync() calls do not change it', () => {
  vi.useFakeTimers();
  const file = createLineFile(path, 'interval');
  file.append('one\n');
  file.append('two\n');
  expect(readFileSync(path, 'utf8')).toBe('one\ntwo\n');
  vi.advanceTimersByTime(1_100);
  file.append('three\n');
  file.close();
  file.append('four\n');
  file.close();
  expect(readFileSync(path, 'utf8')).toBe('one\ntwo\nthree\nfour\n');
});

test('lines that another process appended or cut off are not restored', () => {
  const file = createLineFile(path, 'always');
  file.append('one\n');
  appendFileSync(path, 'foreign\n');
  file.append('two\n');
  expect(readFileSync(path, 'utf8')).toBe('one\nforeign\ntwo\n');
  truncateSync(path, 0);
  file.append('three\n');
  expect(readFileSync(path, 'utf8')).toBe('three\n');
  file.close();
});

test('append throws as long as the file cannot be written', () => {
  mkdirSync(dirname(path));
  symlinkSync('/dev/full', path);
  const file = createLineFile(path, 'interval');
  for (let round = 0; round < 2; round += 1) expect(() => file.append('x\n')).toThrow(/ENOSPC|EINVAL/);
  expect(() => file.close()).toThrow('EINVAL');
  rmSync(path);
  file.append('y\n');
  file.close();
  expect(readFileSync(path, 'utf8')).toBe('y\n');
});
