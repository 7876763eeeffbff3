import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { needPrograms } from '../../../tests/support/needs.ts';
import { findCommonGitFolder } from './git-folder.ts';

test('a worktree needs the folder of its repository, and a forged file shows no other folder', (context) => {
  needPrograms(context, 'git');
  const folder = realpathSync(mkdtempSync('/tmp/nacre-git-folder-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const [main, tree, forged] = ['main', 'tree', 'forged'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  const git = (...words: string[]) => execFileSync('git', ['-C', main, ...words], { stdio: 'pipe' });
  for (const path of [main, join(forged, 'keys', 'worktrees', 'a')]) mkdirSync(path, { recursive: true });
  git('init', '-q');
  git('-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-q', '--allow-empty', '-m', 'first');
  git('worktree', 'add', '-q', tree);
  expect(findCommonGitFolder(tree)).toEqual([join(main, '.git')]);
  expect(findCommonGitFolder(main)).toEqual([]);
  for (const target of [
    join(main, '.git', 'worktrees', 'tree'),
    join(forged, 'keys', 'worktrees', 'a'),
    '/etc',
  ]) {
    writeFileSync(join(forged, '.git'), `gitdir: ${target}\n`);
    expect(findCommonGitFolder(forged)).toEqual([]);
  }
});
