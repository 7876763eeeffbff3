import { readdirSync, readFileSync, readlinkSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createTestEngine } from '../../tests/support/engine.ts';
import { temporaryFolder } from '../../tests/support/temporary-folder.ts';
import { recordOutput } from '../backends/layers/record-output.ts';
import { parseCast } from './asciicast.ts';
import { createRecordings, readRecording } from './recordings.ts';

const limits = { keepDays: 30, maxBytes: 1_048_576 };
let dir = '';
beforeEach(() => {
  dir = temporaryFolder();
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

test('a command is recorded to its end, even if the server closes first', async () => {
  const here = createTestEngine({ wrap: (backend) => recordOutput(backend, createRecordings(dir, limits)) });
  const id = await here.start('echo begun; sleep 30');
  await expect.poll(() => readFileSync(join(dir, `${id}.cast`), 'utf8')).toContain('begun');
  await here.close();
  expect(readRecording(dir, id).events.map(({ code, data }) => [code, data])).toEqual([
    ['o', 'begun\r\n'],
    ['x', '143'],
  ]);
});

test('a recording has resizes and an incomplete last character', async () => {
  const here = createTestEngine({ wrap: (backend) => recordOutput(backend, createRecordings(dir, limits)) });
  const context = { caller: { door: 'cli', client: 'test' }, owner: 'tester' } as const;
  const id = await here.start('stty -echo; read -r; printf "ready\\303"', {
    terminal: { cols: 80, rows: 24 },
  });
  const input = { text: '', eof: false, secret: false };
  await here.engine.write(id, { ...input, resize: { cols: 100, rows: 30 } }, context);
  await here.engine.write(id, { ...input, text: 'go\n' }, context);
  const codes = () => readRecording(dir, id).events.map(({ code, data }) => [code, data]);
  await expect.poll(() => codes().at(-1), { timeout: 10_000 }).toEqual(['x', '0']);
  expect(codes()).toContainEqual(['r', '100x30']);
  expect(codes().findLast(([code]) => code === 'o')?.[1]).toMatch(/\ufffd$/);
  await here.close();
});

test('a command that cannot start leaves no recording, and a failing read leaves no open file', async () => {
  let isBroken = false;
  const here = createTestEngine({
    wrap: (backend) =>
      recordOutput(
        {
          ...backend,
          start: async (id) => (isBroken ? Promise.reject(new Error('no')) : backend.start(id)),
          read: async () => Promise.reject(new Error('lost')),
        },
        createRecordings(dir, limits),
      ),
  });
  const id = await here.start('true');
  await expect.poll(() => openIn(dir)).toEqual([]);
  expect(readRecording(dir, id).events).toEqual([]);
  isBroken = true;
  await expect(here.start('true')).rejects.toThrow('no');
  expect(readdirSync(dir)).toEqual([`${id}.cast`]);
  await here.close();
});

const openIn = (folder: string) =>
  readdirSync('/proc/self/fd').filter((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`).startsWith(folder);
    } catch {
      return false;
    }
  });

test('a command runs although its recording cannot be created', async () => {
  writeFileSync(join(dir, 'file'), '');
  const recordings = createRecordings(join(dir, 'file', 'below'), limits);
  const here = createTestEngine({ wrap: (backend) => recordOutput(backend, recordings) });
  expect(await here.run('echo fine')).toMatchObject({ stdout: 'fine\n' });
  await here.close();
});

test('old recordings are deleted, and another asciicast version is an error', async () => {
  const old = join(dir, 'cmd_00.cast');
  writeFileSync(old, '');
  utimesSync(old, 1, 1);
  const yesterday = join(dir, 'cmd_02.cast');
  writeFileSync(yesterday, '');
  utimesSync(yesterday, Date.now() / 1_000 - 86_400, Date.now() / 1_000 - 86_400);
  const recorder = await createRecordings(dir, limits).begin('cmd_01', { cols: 100, rows: 30 });
  await recorder.add([{ stream: 'stdout', data: Buffer.from('a\nb') }]);
  await recorder.end(0);
  await recorder.close();
  expect(readdirSync(dir)).toEqual(['cmd_01.cast', 'cmd_02.cast']);
  // With a terminal, LF stays as it is: the line discipline has already added CR.
  expect(readRecording(dir, 'cmd_01')).toMatchObject({
    header: { cols: 100 },
    events: [{ data: 'a\nb' }, { code: 'x' }],
  });
  expect(() => parseCast('{"version":2}\n', 'x.cast')).toThrow('x.cast is not a recording: it is version 2');
});
