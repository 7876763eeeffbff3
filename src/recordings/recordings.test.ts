import { readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createTestEngine } from '../../tests/support/engine.ts';
import { temporaryFolder } from '../../tests/support/worker.ts';
import { recordBackend } from '../engine/recorded-backend.ts';
import { parseCast } from './asciicast.ts';
import { createRecordings, readRecording } from './recordings.ts';

let dir = '';
beforeEach(() => {
  dir = temporaryFolder();
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

test('a command is recorded to its end, also when the server ends before it', async () => {
  const here = createTestEngine({ wrap: (backend) => recordBackend(backend, createRecordings(dir, 30)) });
  const id = await here.start('echo begun; sleep 30');
  await expect.poll(() => readFileSync(join(dir, `${id}.cast`), 'utf8')).toContain('begun');
  await here.close();
  expect(readRecording(dir, id).events.map(({ code, data }) => [code, data])).toEqual([
    ['o', 'begun\r\n'],
    ['x', '143'],
  ]);
});

test('a recording that cannot be made disturbs no command', async () => {
  writeFileSync(join(dir, 'file'), '');
  const recordings = createRecordings(join(dir, 'file', 'below'), 30);
  const here = createTestEngine({ wrap: (backend) => recordBackend(backend, recordings) });
  expect(await here.run('echo fine')).toMatchObject({ stdout: 'fine\n' });
  await here.close();
});

test('old recordings go, and a broken one says what it is', async () => {
  const old = join(dir, 'cmd_00.cast');
  writeFileSync(old, '');
  utimesSync(old, 1, 1);
  const recorder = await createRecordings(dir, 30).begin('cmd_01', { cols: 100, rows: 30 });
  await recorder.add([{ stream: 'stdout', data: Buffer.from('a\nb') }]);
  await recorder.end(0);
  expect(readdirSync(dir)).toEqual(['cmd_01.cast']);
  // A terminal has made new lines already.
  expect(readRecording(dir, 'cmd_01')).toMatchObject({
    header: { cols: 100 },
    events: [{ data: 'a\nb' }, { code: 'x' }],
  });
  expect(() => parseCast('{"version":2}\n', 'x.cast')).toThrow('x.cast is no recording: it is version 2');
});
