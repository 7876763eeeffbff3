import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { temporaryFolder } from '../../tests/support/temporary-folder.ts';
import { createId } from '../support/ids.ts';
import { ownIdentity, type ProcessIdentity } from '../support/process-identity.ts';
import { toEventLine, toHeaderLine } from './asciicast.ts';
import { pruneRecordings } from './prune-recordings.ts';
import { createRecordings } from './recordings.ts';

let dir = '';
beforeEach(() => {
  dir = temporaryFolder();
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const hourMs = 3_600_000;
const names = () => readdirSync(dir).sort();
const whole = { code: 'x', data: '0' };

function put(
  name: string,
  ageHours: number,
  last = { code: 'o', data: '["x","0"]\n' },
  writer?: ProcessIdentity,
): void {
  const header = toHeaderLine({ cols: 80, rows: 24, timestamp: 1, title: name }, writer);
  const printed = toEventLine({ after: 0.5, code: 'o', data: 'x'.repeat(1_000) });
  const path = join(dir, `${name}.cast`);
  writeFileSync(path, `${header}${printed}${toEventLine({ after: 1e-6, ...last })}`);
  const time = new Date(Date.now() - ageHours * hourMs);
  utimesSync(path, time, time);
}

test('the oldest recordings are deleted until the rest fits, except those being written', async () => {
  put('newest', 0, whole);
  put('writing', 2);
  put('oldest', 2.9, { code: 'x', data: '-1' });
  put('middle', 1, whole);
  await pruneRecordings(dir, { keepDays: 1, maxBytes: 3_600 });
  expect(names()).toEqual(['middle.cast', 'newest.cast', 'writing.cast']);
  await pruneRecordings(dir, { keepDays: 1, maxBytes: 0 });
  expect(names()).toEqual(['writing.cast']);
});

test('an unfinished recording is deleted in its turn if its server is dead, at any clock', async () => {
  const { pid } = spawnSync('true');
  put('left', -9_000, undefined, { ...ownIdentity(), pid });
  put('living', 9_000, undefined, ownIdentity());
  put('whole', 5, whole);
  await pruneRecordings(dir, { keepDays: 36_000, maxBytes: 3_000 });
  expect(names()).toEqual(['left.cast', 'living.cast']);
  await pruneRecordings(dir, { keepDays: 36_000, maxBytes: 0 });
  expect(names()).toEqual(['living.cast']);
});

test('recordings older than keepDays are deleted although there is room, one day of them at a time', async () => {
  put('old', 100);
  put('less-old', 70, whole);
  put('young', 23, whole);
  await pruneRecordings(dir, { keepDays: 1, maxBytes: 1_048_576 });
  expect(names()).toEqual(['less-old.cast', 'young.cast']);
  await pruneRecordings(dir, { keepDays: 1, maxBytes: 1_048_576 });
  expect(names()).toEqual(['young.cast']);
});

test('old recordings are deleted while others are written, which stay', async () => {
  const maxBytes = 160_000;
  const recordings = createRecordings(dir, { keepDays: 1, maxBytes });
  const long = await recordings.begin('cmd_0000', undefined);
  for (let round = 0; round < 12; round++) {
    const short = await recordings.begin(createId('cmd'), undefined);
    for (const recorder of [long, short])
      await recorder.add([{ stream: 'stdout', data: Buffer.alloc(15_000, 'x') }]);
    await short.end(0);
    await short.close();
  }
  // `cmd_0000` alone exceeds `maxBytes`; it stays because it is being written.
  expect(names()).toEqual(['cmd_0000.cast']);
  await long.end(0);
  await long.close();
  const next = await recordings.begin('cmd_0001', undefined);
  await next.add([{ stream: 'stdout', data: Buffer.alloc(maxBytes / 16, 'x') }]);
  await next.end(0);
  await next.close();
  expect(names()).toEqual(['cmd_0001.cast']);
});

test('other files in the folder stay and cause no failure', async () => {
  symlinkSync('nowhere', join(dir, 'link.cast'));
  const notes = join(dir, 'notes.txt');
  writeFileSync(notes, 'x'.repeat(2_000));
  utimesSync(notes, 1, 1);
  for (const name of ['folder.cast', 'folder']) mkdirSync(join(dir, name), { recursive: true });
  put('whole', 2, whole);
  await pruneRecordings(dir, { keepDays: 1, maxBytes: 1_500 });
  expect(names()).toEqual(['folder', 'folder.cast', 'link.cast', 'notes.txt', 'whole.cast']);
  await pruneRecordings(dir, { keepDays: 1, maxBytes: 0 });
  expect(names()).toEqual(['folder', 'folder.cast', 'link.cast', 'notes.txt']);
});

test('the recording of a silent command is touched, so that it does not count as abandoned', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  try {
    const recordings = createRecordings(dir, { keepDays: 1, maxBytes: 1_048_576 });
    // The first recording checks the folder; then `partBytes` must be written before the next check.
    await (await recordings.begin('cmd_01', undefined)).close();
    const recorder = await recordings.begin('cmd_00', undefined);
    const path = join(dir, 'cmd_00.cast');
    utimesSync(path, 1, 1);
    vi.advanceTimersByTime(hourMs);
    vi.useRealTimers();
    await expect.poll(() => statSync(path).mtimeMs).toBeGreaterThan(Date.now() - hourMs);
    await recorder.close();
  } finally {
    vi.useRealTimers();
  }
});
