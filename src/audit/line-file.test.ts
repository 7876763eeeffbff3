import { spawnSync } from 'node:child_process';
import {
  appendFileSync,
  closeSync,
  constants,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
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
  mkdirSync(path, { recursive: true });
  const file = createLineFile(path, 'interval');
  for (let round = 0; round < 2; round += 1) expect(() => file.append('x\n')).toThrow(/EISDIR/);
  rmdirSync(path);
  file.append('y\n');
  file.close();
  expect(readFileSync(path, 'utf8')).toBe('y\n');
});

test.each([
  ['a symbolic link', (target: string) => symlinkSync(target, path)],
  ['a hard link', (target: string) => linkSync(target, path)],
  ['a FIFO', () => spawnSync('mkfifo', [path])],
])(
  '%s that replaces the file is refused without waiting, and lines are appended again once it is gone',
  (kind, replace) => {
    const target = join(folder, 'target');
    writeFileSync(target, 'precious\n');
    const file = createLineFile(path, 'always');
    file.append('one\n');
    rmSync(path);
    replace(target);
    for (let round = 0; round < 2; round += 1) expect(() => file.append('two\n')).toThrow(kind);
    expect(readFileSync(target, 'utf8')).toBe('precious\n');
    rmSync(path);
    file.append('three\n');
    file.close();
    expect(readFileSync(path, 'utf8')).toBe('three\n');
  },
);

test('a FIFO with a reader is refused as well', () => {
  mkdirSync(dirname(path));
  spawnSync('mkfifo', [path]);
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  expect(() => createLineFile(path, 'interval').append('x\n')).toThrow('a FIFO');
  closeSync(reader);
});

test('a file that was moved away does not get further lines', () => {
  const file = createLineFile(path, 'interval');
  file.append('one\n');
  renameSync(path, `${path}.1`);
  file.append('two\n');
  file.close();
  expect([`${path}.1`, path].map((name) => readFileSync(name, 'utf8'))).toEqual(['one\n', 'two\n']);
});
