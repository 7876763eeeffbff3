import { expect, test } from 'vitest';
import { frameKinds, magic } from '../contract/wire.ts';
import { encodeFrame, FrameReader, maxBannerBytes, type WireFrame } from './frames.ts';

const begin = Buffer.from(magic, 'latin1');
const call = Buffer.concat(encodeFrame(frameKinds.call, 7, ['start', ['cmd_1']], [Buffer.from('raw')]));

function read(pieces: readonly Buffer[], bannerBytes: number): readonly WireFrame[] {
  const frames: WireFrame[] = [];
  const reader = new FrameReader((frame) => frames.push(frame), bannerBytes);
  for (const piece of pieces) reader.push(piece);
  return frames;
}

const bytesOf = (data: Buffer) => [...data].map((byte) => Buffer.from([byte]));

test('frames are found wherever the stream is cut', () => {
  const all = Buffer.concat([begin, call, call]);
  for (const pieces of [[all], bytesOf(all)]) {
    const frames = read(pieces, 0);
    expect(frames).toMatchObject([
      { number: 7, body: ['start', ['cmd_1']] },
      { number: 7, body: ['start', ['cmd_1']] },
    ]);
    expect(Buffer.concat(frames[1]?.raw ?? []).toString()).toBe('raw');
  }
});

test('a near side skips the banner of a login shell, up to a size', () => {
  const banner = Buffer.alloc(maxBannerBytes, 'Welcome!\n');
  expect(read([banner, begin, call], maxBannerBytes)).toHaveLength(1);
  expect(read(bytesOf(Buffer.concat([Buffer.from('Welcome!\n'), begin, call])), maxBannerBytes)).toHaveLength(
    1,
  );
  expect(() => read([Buffer.alloc(1_000_000, 'Welcome!\n')], maxBannerBytes)).toThrow(/it sent: Welcome!/);
});

test('a worker accepts nothing before the magic line, such as the header of an HTTP request', () => {
  const request = Buffer.from('POST / HTTP/1.1\r\nHost: x\r\n\r\n');
  expect(() => read([request, begin, call], 0)).toThrow(/not a nacre worker/);
  expect(() => read([Buffer.concat([request, begin, call])], 0)).toThrow(/not a nacre worker/);
  expect(() => read([Buffer.from('x'), begin, call], 0)).toThrow(/not a nacre worker/);
});
