import { chmodSync, mkdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { runChild } from '../../../tests/support/child.ts';
import { temporaryFolder } from '../../../tests/support/temporary-folder.ts';
import { findProgram, inspect, toPlace } from './inspect.ts';

let folder = '';
beforeEach(() => {
  folder = temporaryFolder();
  mkdirSync(join(folder, 'sub', 'deep'), { recursive: true });
  writeFileSync(join(folder, 'file'), '');
  symlinkSync('sub/deep', join(folder, 'link'));
  symlinkSync('loop', join(folder, 'loop'));
  symlinkSync('/', join(folder, 'out'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('T7: a directory', () => {
  test.each([
    ['.', ''],
    ['sub', 'sub'],
    ['./sub/../sub/deep/', 'sub/deep'],
    ['link', 'sub/deep'],
  ])('%s is resolved against the server’s directory and made canonical', async (asked, path) => {
    expect(await toPlace(asked, folder)).toEqual({ asked, path: join(folder, path).replace(/\/$/, '') });
  });

  test('that is absolute or leads upwards is resolved through symlinks', async () => {
    expect(await toPlace(join(folder, 'link'), '/')).toMatchObject({ path: join(folder, 'sub/deep') });
    expect(await toPlace('out/usr', folder)).toMatchObject({ path: realpathSync('/usr') });
    expect(await toPlace('../../../../..', folder)).toMatchObject({ path: '/' });
  });

  test.each([
    ['none', 'missing'],
    ['file', 'not_a_directory'],
    ['file/x', 'not_a_directory'],
    ['loop', 'not_accessible'],
    ['x'.repeat(300), 'missing'],
    ['a\0b', 'missing'],
  ])('%j cannot be used: %s', async (asked, problem) => {
    expect(await toPlace(asked, folder)).toEqual({ asked, problem });
  });

  test('that the user may not enter cannot be used', async () => {
    expect(await runChild('closed-directory')).toEqual({ asked: 'closed', problem: 'not_accessible' });
  });
});

describe('a program', () => {
  test('is the first executable file of its name in an absolute entry of the PATH', () => {
    for (const name of ['a', 'b']) {
      mkdirSync(join(folder, name));
      writeFileSync(join(folder, name, 'tool'), '');
      chmodSync(join(folder, name, 'tool'), 0o755);
    }
    mkdirSync(join(folder, 'sub', 'tool'));
    const path = ['', '.', 'a', join(folder, 'sub'), join(folder, 'b'), join(folder, 'a')].join(':');
    expect(findProgram('tool', path)).toBe(join(folder, 'b', 'tool'));
    chmodSync(join(folder, 'b', 'tool'), 0o644);
    expect(findProgram('tool', path)).toBe(join(folder, 'a', 'tool'));
    for (const name of ['..', '.', '', 'none']) expect(findProgram(name, path)).toBeNull();
  });
});

test('T8: an inspection resolves the directory, every root and every program, in their order', async () => {
  const context = {
    cwd: folder,
    ownPlace: { asked: folder, path: folder },
    home: '/home/me',
    path: '/usr/bin:/bin',
  };
  const query = {
    cwd: undefined,
    roots: ['sub', 'none', '/'],
    programs: ['sh', 'no-such-program'],
    workspace: ['sub', 'gone'],
  };
  expect(await inspect(query, context)).toEqual({
    cwd: { asked: folder, path: folder },
    roots: [
      { asked: 'sub', path: join(folder, 'sub') },
      { asked: 'none', problem: 'missing' },
      { asked: '/', path: '/' },
    ],
    workspace: [
      { asked: 'sub', path: join(folder, 'sub') },
      { asked: 'gone', problem: 'missing' },
    ],
    home: '/home/me',
    programs: { sh: expect.stringMatching(/\/sh$/), 'no-such-program': null },
  });
});
