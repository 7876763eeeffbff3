// A FIFO in place of a file that nacre reads. A read without O_NONBLOCK waits until another process opens it for writing, and
// blocks the server meanwhile.
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { readRecords } from '../../src/audit/feed.ts';
import { readLines } from '../../src/audit/read-lines.ts';
import { readDevcontainer } from '../../src/backends/roads/devcontainer.ts';
import { openFarChanges } from '../../src/machines/far-changes.ts';
import { openFarRecords } from '../../src/machines/far-records.ts';
import { readRecording } from '../../src/recordings/recordings.ts';
import { createStopwatch } from '../../src/support/timing.ts';
import { readStoredEntry } from '../../src/worker/changes/entries.ts';
import { readCommandId } from '../../src/worker/changes/layer.ts';
import { readInterpreter } from '../../src/worker/exec/read-interpreter.ts';
import { findCommonGitFolder } from '../../src/worker/sandbox/git-folder.ts';
import { WorkspaceProtection } from '../../src/worker/sandbox/protected-paths.ts';
import { findShown } from '../../src/worker/sandbox/shown-in-home.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const lateMs = 5_000;

/** Creates a FIFO that a process opens for writing after `lateMs`, so that a test of code that waits for it fails, and does not hang. */
function createFifo(path: string): void {
  mkdirSync(dirname(path), { recursive: true });
  execFileSync('mkfifo', [path]);
  const writer = spawn('sh', ['-c', 'sleep "$1"; : > "$2"', 'sh', String(lateMs / 1_000), path], {
    detached: true,
    stdio: 'ignore',
  });
  onTestFinished(() => {
    if (writer.pid !== undefined) process.kill(-writer.pid, 'SIGKILL');
  });
}

async function readFeed(dir: string): Promise<number> {
  let count = 0;
  for await (const { found } of readRecords(dir, { name: 'f', instance: 'a' }, 0)) count += found.length;
  return count;
}

function prepareWorktree(folder: string): string {
  const worktree = join(folder, 'tree');
  mkdirSync(worktree);
  writeFileSync(join(worktree, '.git'), `gitdir: ${folder}/worktrees/tree\n`);
  return worktree;
}

function readCommandOfEntry(store: string): string | undefined {
  mkdirSync(join(store, 'entries', 'a', 'old-1'));
  return readStoredEntry(store, 'a')?.command;
}

test.each<[string, string, (folder: string) => unknown, unknown]>([
  [
    'the configuration of a repository in a workspace',
    '.git/config',
    (folder) => new WorkspaceProtection([], folder).find([folder]).readOnly.length,
    0,
  ],
  [
    'the name of a worktree',
    'worktrees/tree/gitdir',
    (folder) => findCommonGitFolder(prepareWorktree(folder)),
    [],
  ],
  [
    'the git settings of a user',
    '.gitconfig',
    (home) =>
      findShown({ homes: { named: home, own: [home], all: [home], hidden: [home] }, path: '', added: [] })
        .paths,
    [],
  ],
  ['a listed program', 'f', (folder) => readInterpreter(join(folder, 'f')), []],
  ['a file of the audit log that the console follows', 'f', readFeed, 0],
  [
    'a record of a change on another machine',
    'machines/changes/cmd_1',
    (state) => openFarChanges(state).list(),
    [],
  ],
  ['the notes about kept changes', 'entries/a/notes.json', readCommandOfEntry, ''],
  ['the id of the command of a layer', 'command', readCommandId, undefined],
])('E2: a FIFO in place of %s is not waited for', async (_, path, read, expected) => {
  const folder = temporaryFolder();
  createFifo(join(folder, path));
  const elapsed = createStopwatch();
  expect(await read(folder)).toEqual(expected);
  expect(elapsed()).toBeLessThan(lateMs);
});

test.each<[string, string, (folder: string) => unknown]>([
  ['a recording', 'cmd_0123.cast', (dir) => readRecording(dir, 'cmd_0123')],
  ['the name of this installation', 'machines/installation', (state) => openFarRecords(state).installation()],
  [
    'the description of a container',
    '.devcontainer/devcontainer.json',
    (cwd) => readDevcontainer('c', 'docker', { cwd, environment: {} }),
  ],
])('E2: a FIFO in place of %s is an error at once', (_, path, read) => {
  const folder = temporaryFolder();
  createFifo(join(folder, path));
  const elapsed = createStopwatch();
  expect(() => read(folder)).toThrow();
  expect(elapsed()).toBeLessThan(lateMs);
});

test('E3: a file with a hole of gigabytes is not read into memory as one line', async () => {
  const folder = temporaryFolder();
  const file = join(folder, 'f');
  writeFileSync(file, '');
  truncateSync(file, 3_000_000_000);
  const before = process.memoryUsage.rss();
  expect(() => [...readLines(file)]).toThrow('has a line of more than 33554432 bytes');
  expect(await readFeed(folder)).toBe(0);
  expect(process.memoryUsage.rss() - before).toBeLessThan(500_000_000);
});

test('E2: a folder or a device among the files of the audit log does not end the reading of the others', async () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'f'));
  expect(await readFeed(folder)).toBe(0);
  const other = temporaryFolder();
  symlinkSync('/dev/zero', join(other, 'f'));
  expect(await readFeed(other)).toBe(0);
});
