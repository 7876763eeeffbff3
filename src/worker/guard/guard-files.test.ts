import { spawnSync } from 'node:child_process';
import { constants, mkdtempSync, openSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { needLandlock } from '../../../tests/support/needs.ts';
import { temporaryFolder } from '../../../tests/support/temporary-folder.ts';
import { runGuard } from './guard.ts';
import { loadLibc } from './libc.ts';

// This test file has a process of its own, which stays restricted.
test('with version 2 of Landlock, which does not know truncation, a filter denies it', async (context) => {
  await needLandlock(context);
  const folder = temporaryFolder();
  const [inside, outside] = ['inside', 'outside'].map((name) => mkdtempSync(join(folder, name)));
  const file = join(outside ?? '', 'file');
  writeFileSync(file, 'untouched');
  const libc = await loadLibc();
  const files = { hidden: [], shown: [], writable: [inside], openable: [], sockets: true, signals: true };
  const texts: string[] = [];
  const code = await runGuard([JSON.stringify({ files, fds: [0, 1, 2], env: {} }), '/nowhere/at/all'], {
    load: async () => ({ ...libc, landlockVersion: () => 2 }),
    report: (text) => texts.push(text),
  });
  expect([code, texts.join('')]).toEqual([125, '/nowhere/at/all: ENOENT\n']);
  expect(() => truncateSync(file)).toThrow('EACCES');
  expect(() => openSync(file, constants.O_RDONLY | constants.O_TRUNC)).toThrow('EACCES');
  expect(() => writeFileSync(file, 'changed')).toThrow('EACCES');
  const truncate = `import os; os.truncate(${JSON.stringify(file)}, 0)`;
  const python = spawnSync('/usr/bin/python3', ['-c', truncate], { encoding: 'utf8' });
  if (python.error === undefined) expect(python.stderr).toContain('PermissionError');
  expect(readFileSync(file, 'utf8')).toBe('untouched');
  writeFileSync(join(inside ?? '', 'file'), 'written');
  truncateSync(join(inside ?? '', 'file'), 1);
  expect(readFileSync(join(inside ?? '', 'file'), 'utf8')).toBe('w');
});
