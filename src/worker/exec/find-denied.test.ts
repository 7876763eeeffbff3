import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../../tests/support/temporary-folder.ts';
import { findDenied } from './find-denied.ts';

const folder = temporaryFolder();
const tool = join(folder, 'tool');
writeFileSync(tool, '', { mode: 0o755 });
writeFileSync(join(folder, 'data'), '', { mode: 0o644 });
const allowed = { allow: ['/usr/bin/env', '/usr/lib/git-core'], path: `${folder}:/usr/bin` };
const find = (stderr: string, { exitCode = 126, script = 'x', allow = allowed.allow } = {}) =>
  findDenied({ exitCode, stderr: `${stderr}\n`, script, cwd: folder }, { ...allowed, allow });

test.each([
  [`bash: line 1: ${tool}: Permission denied`, tool],
  ['bash: line 1: ./tool: Permission denied', './tool'],
  ['env: ‘tool’: Permission denied', 'tool'],
  ["timeout: failed to run command 'tool': Permission denied", 'tool'],
  ['fatal: cannot run tool: Permission denied', 'tool'],
])('%s names a program that the kernel stopped', (stderr, name) => {
  expect(find(stderr)).toEqual([name]);
});

test.each([
  ['a file that is not executable', 'bash: line 1: ./data: Permission denied'],
  ['a file that does not exist', 'bash: line 1: ./none: Permission denied'],
  ['a folder', 'bash: line 1: /usr/bin: Permission denied'],
  ['an allowed program', 'bash: line 1: /usr/bin/env: Permission denied'],
  ['another message', `${tool}: No such file or directory`],
])('%s is not named', (_what, stderr) => {
  expect(find(stderr)).toEqual([]);
});

test('a file that a redirection may have failed to write is named only with exit code 126', () => {
  const stderr = `bash: line 1: ${tool}: Permission denied`;
  expect(find(stderr, { exitCode: 1, script: `echo > ${tool}` })).toEqual([]);
  expect(find(stderr, { exitCode: 0, script: `${tool}; echo done` })).toEqual([tool]);
});

test('other redirections do not matter', () => {
  const stderr = `bash: line 1: ${tool}: Permission denied`;
  expect(find(stderr, { exitCode: 0, script: 'tool > /dev/null 2>&1; echo done' })).toEqual([tool]);
  expect(find(stderr, { exitCode: 1, script: 'echo > "$x"' })).toEqual([]);
});

test('a file that a command failed to open or create is not named', () => {
  const other = { exitCode: 1, allow: ['/usr/bin/mkdir'] };
  expect(find("mkdir: cannot create directory 'test': Permission denied", other)).toEqual([]);
  expect(find('cat: tool: Permission denied', other)).toEqual([]);
  expect(find('xargs: test: Permission denied', other)).toEqual(['test']);
});

test('messages in another language, of a terminal and of other programs are understood', () => {
  expect(find(`bash: Zeile 1: ${tool}: Keine Berechtigung`)).toEqual([tool]);
  expect(find(`bash: line 1: ${tool}: Permission denied\r`)).toEqual([tool]);
  expect(find(`fork/exec ${tool}: permission denied`, { exitCode: 1 })).toEqual([tool]);
  expect(find(`${tool}: Permission denied (os error 13)`, { exitCode: 1 })).toEqual([tool]);
});

test('a program in an allowed folder is not named', () => {
  expect(find(`bash: line 1: ${tool}: Permission denied`, { allow: [folder] })).toEqual([]);
});
