import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import type { ReadResult } from '../../contract/job.ts';
import { createLiveScreen } from './live-screen.ts';

const output = Buffer.from('\x1b[31mlast\x1b[0m line\r\n');
const ended: ReadResult = {
  chunks: [{ stream: 'stdout', data: output }],
  ...{ next: output.length, end: output.length, final: true },
};
const backend = { read: async () => ended, write: async () => {} };

test('an ended command keeps the text of its screen, but no emulator', async () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const one = async () => {
    const screen = await createLiveScreen(backend, { cols: 80, rows: 24 });
    screen.follow('cmd_1');
    await expect.poll(async () => (await screen.view()).text).toBe('last line\n');
    return screen;
  };
  await one();
  collect();
  const before = process.memoryUsage().heapUsed;
  const kept = await Promise.all(Array.from({ length: 100 }, one));
  collect();
  // An emulator takes 128 kB of the heap.
  expect((process.memoryUsage().heapUsed - before) / kept.length).toBeLessThan(40_000);
  kept[0]?.resize({ cols: 100, rows: 30 });
  expect(await kept[0]?.view()).toMatchObject({ cols: 80, text: 'last line\n', cursor: { row: 2, col: 1 } });
});
