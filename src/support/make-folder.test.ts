import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { makeFolder } from './make-folder.ts';

let base = '';
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'nacre-folder-'));
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

test('creates a folder and its parents with mode 0700, and accepts an existing one', () => {
  const path = join(base, 'a', 'b', 'c');
  makeFolder(path);
  makeFolder(path);
  expect(statSync(path).mode & 0o777).toBe(0o700);
});

test('throws instead of looping forever where no folder can be created', () => {
  writeFileSync(join(base, 'file'), '');
  expect(() => makeFolder(join(base, 'file', 'a'))).toThrow('ENOTDIR');
  expect(() => makeFolder('/proc/no-such-folder/a')).toThrow('ENOENT');
});
