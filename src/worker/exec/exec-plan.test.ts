import { copyFileSync, mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { temporaryFolder } from '../../../tests/support/temporary-folder.ts';
import { toExecList } from '../../policy/to-exec-list.ts';
import { toExecPlan } from './exec-plan.ts';
import { readInterpreter } from './read-interpreter.ts';

let folder = '';
const plan = (...names: string[]) =>
  toExecPlan(toExecList(names), { path: `${folder}:/usr/bin:/bin`, bashPath: '/bin/bash' });
const script = (name: string, text: string) => {
  const path = join(folder, name);
  writeFileSync(path, text, { mode: 0o755 });
  return path;
};
beforeEach(() => {
  folder = temporaryFolder();
});

test('names are resolved to canonical files in the PATH and in the system folders', () => {
  const first = script('ls', '');
  symlinkSync('/usr/bin/id', join(folder, 'who'));
  const { allow } = plan('ls', 'who', 'cd', 'nothing-of-that-name');
  expect(allow).toEqual(expect.arrayContaining([first, realpathSync('/usr/bin/ls'), '/usr/bin/id']));
  expect(allow.every((path) => path.startsWith('/'))).toBe(true);
});

test('shells, loaders and interpreters are added, also those behind `env` and other scripts', () => {
  const inner = script('inner', '#!/usr/bin/env -S A=1 sed -f\n');
  script('outer', `#!${inner} x\n`);
  const { allow, added } = plan('outer');
  const sed = realpathSync('/usr/bin/sed');
  expect(added).toEqual(
    expect.arrayContaining([inner, '/usr/bin/env', sed, realpathSync('/bin/bash'), realpathSync('/bin/sh')]),
  );
  expect(allow).toEqual(expect.arrayContaining([...readInterpreter(sed).map((path) => realpathSync(path))]));
  expect(added).not.toContain(join(folder, 'outer'));
});

test('scripts that are interpreters of each other do not loop', () => {
  script('one', `#!${join(folder, 'two')}\n`);
  script('two', `#!${join(folder, 'one')}\n`);
  expect(plan('one').added).toContain(join(folder, 'two'));
});

test('a listed folder allows nothing', () => {
  mkdirSync(join(folder, 'sub'));
  expect(plan(folder, '/', 'sub').allow).toEqual(plan().allow);
});

test('a multi-call program is named, because it can be run under any of its names', () => {
  copyFileSync('/usr/bin/true', join(folder, 'busybox'));
  symlinkSync('busybox', join(folder, 'tar'));
  expect(plan('tar').multiCall).toEqual([join(folder, 'busybox')]);
});

test('a file that is neither a script nor an ELF program has no interpreter', () => {
  const elf = Buffer.alloc(64);
  elf.write('\x7fELF\x02\x01', 'latin1');
  writeFileSync(join(folder, 'static'), elf);
  for (const path of [
    script('text', 'echo'),
    script('none', '#!\n'),
    join(folder, 'static'),
    folder,
    '/nowhere',
  ])
    expect(readInterpreter(path)).toEqual([]);
});
