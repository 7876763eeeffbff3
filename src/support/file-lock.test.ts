import { spawn, spawnSync } from 'node:child_process';
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { runChild } from '../../tests/support/child.ts';
import { temporaryFolder } from '../../tests/support/temporary-folder.ts';
import { withLock } from './file-lock.ts';
import { ownIdentity } from './process-identity.ts';

let folder = '';
let path = '';
beforeEach(() => {
  folder = temporaryFolder();
  path = join(folder, 'lock');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const endedPid = () => spawnSync('true').pid;
const identityOf = (changes: object) => JSON.stringify({ ...ownIdentity(), ...changes });
/** Sets the mtime of the lock to `days` from now. */
const dateLock = (days: number) => {
  const time = Date.now() / 1_000 + days * 86_400;
  utimesSync(path, time, time);
};
const msToLock = () => {
  const start = performance.now();
  withLock(path, () => {});
  return performance.now() - start;
};

test('the lock exists while the step runs, and is removed even if the step throws', () => {
  const held = withLock(path, () => readFileSync(path, 'utf8'));
  expect(JSON.parse(held)).toMatchObject({ pid: process.pid });
  expect(() =>
    withLock(path, () => {
      throw new Error('inside');
    }),
  ).toThrow('inside');
  expect(readdirSync(folder)).toEqual([]);
});

test.each([0, 500, -500])(
  'the lock of a dead process, dated %i days from now, is removed at once',
  (days) => {
    const { startTime } = ownIdentity();
    for (const content of [
      String(endedPid()),
      identityOf({ pid: endedPid() }),
      identityOf({ startTime: `${startTime}0` }),
      identityOf({ boot: 'an earlier boot' }),
    ]) {
      writeFileSync(path, content);
      dateLock(days);
      expect(msToLock()).toBeLessThan(400);
    }
    expect(readdirSync(folder)).toEqual([]);
  },
);

test('the lock of a killed process that nothing reaps is removed at once', async () => {
  const parent = spawn('sh', ['-c', 'sh -c "echo \\$\\$; kill -9 \\$\\$" & exec sleep 60']);
  onTestFinished(() => void parent.kill());
  const pid = await new Promise<string>((resolve) =>
    parent.stdout.once('data', (data) => resolve(String(data).trim())),
  );
  const stateOf = () => readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.[0];
  await expect.poll(stateOf).toBe('Z');
  writeFileSync(path, pid);
  expect(msToLock()).toBeLessThan(400);
});

test.each([
  ['of a living process', () => writeFileSync(path, identityOf({ pid: process.ppid, startTime: '' }))],
  [
    'of another pid namespace',
    () => writeFileSync(path, identityOf({ namespace: 'pid:[1]', pid: endedPid() })),
  ],
  ['without a holder', () => writeFileSync(path, '')],
  ['that is a FIFO', () => spawnSync('mkfifo', [path])],
  ['that is a symlink', () => symlinkSync('/dev/zero', path)],
  ['that is a folder', () => mkdirSync(path)],
])('a lock %s is waited for, but not for longer than a second', (_, make) => {
  make();
  const waitedMs = msToLock();
  expect(waitedMs).toBeGreaterThan(400);
  expect(waitedMs).toBeLessThan(1_500);
  expect(readdirSync(folder)).toEqual([]);
});

test('a step that lost the lock before it wrote runs again, and leaves the lock of another holder', () => {
  const written: number[] = [];
  let turn = 0;
  withLock(path, (assertHeld) => {
    turn += 1;
    if (turn === 1) writeFileSync(path, String(endedPid()));
    assertHeld();
    written.push(turn);
  });
  expect(written).toEqual([2]);
  withLock(path, () => writeFileSync(path, '1'));
  expect(readFileSync(path, 'utf8')).toBe('1');
});

test('throws if the lock file cannot be created', () => {
  expect(() => withLock(join(folder, 'none', 'lock'), () => 'never')).toThrow('ENOENT');
});

test('a sparse file of 3 GB that replaces a lock is removed without being read', () => {
  writeFileSync(path, '');
  truncateSync(path, 3_000_000_000);
  expect(msToLock()).toBeLessThan(4_000);
  expect(readdirSync(folder)).toEqual([]);
});

test('a lock that cannot be read because no descriptor is left is not taken for a lost one', async () => {
  expect(await runChild('lock-at-limit', { ulimits: ['-n 64'] })).toEqual({
    found: expect.stringContaining('EMFILE'),
    next: 'works',
    isLeft: false,
  });
});

test('a step that loses its lock again and again ends with an error', () => {
  const lose = (assertHeld: () => void) => {
    rmSync(path);
    assertHeld();
  };
  expect(() => withLock(path, lose, 50)).toThrow('is locked by another process');
});
