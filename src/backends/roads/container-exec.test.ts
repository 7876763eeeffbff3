import { PassThrough } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { demultiplex } from './container-exec.ts';

const frame = (kind: number, text: string) => {
  const header = Buffer.alloc(8);
  header[0] = kind;
  header.writeUInt32BE(text.length, 4);
  return Buffer.concat([header, Buffer.from(text)]);
};

const collect = async (pieces: readonly Buffer[]) => {
  const socket = new PassThrough();
  const { stream, ended } = demultiplex(socket, async () => 3);
  let stdout = '';
  stream.on('data', (data: Buffer) => {
    stdout += data.toString();
  });
  for (const piece of pieces) {
    socket.push(piece);
    await setImmediate();
  }
  socket.push(null);
  return { stdout, ...(await ended) };
};

test('stdout and stderr are separated wherever the stream is cut', async () => {
  const all = Buffer.concat([frame(1, 'one '), frame(2, 'bad'), frame(1, ''), frame(1, 'two')]);
  const expected = { stdout: 'one two', stderr: 'bad', code: 3 };
  expect(await collect([all])).toEqual(expected);
  for (let at = 1; at < all.length; at += 1)
    expect(await collect([all.subarray(0, at), all.subarray(at)]), `cut at ${at}`).toEqual(expected);
  expect(await collect([...all].map((byte) => Buffer.from([byte])))).toEqual(expected);
});

test('only the end of a long stderr is kept', async () => {
  const { stderr } = await collect(
    Array.from({ length: 100 }, (_, index) => frame(2, `${index} `.repeat(100))),
  );
  expect(stderr.length).toBe(8_192);
  expect(stderr.endsWith('99 ')).toBe(true);
});

test('a reader that is slow pauses the connection', async () => {
  const socket = new PassThrough();
  demultiplex(socket, async () => 0);
  socket.write(frame(1, 'x'.repeat(200_000)));
  await setImmediate();
  expect(socket.isPaused()).toBe(true);
});
