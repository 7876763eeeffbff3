import { expect, test } from 'vitest';
import { pieceBytes, SendBuffers } from './send-buffers.ts';

test('memory is reused for a later frame, but not before its own frame is sent', () => {
  const buffers = new SendBuffers();
  const first = buffers.open();
  const [one, two] = [first.allocate(pieceBytes / 2), first.allocate(pieceBytes / 2)];
  expect(one.buffer).toBe(two.buffer);
  expect(two.byteOffset).toBe(one.byteOffset + one.length);
  expect(buffers.open().allocate(pieceBytes).buffer).not.toBe(one.buffer);
  first.release();
  expect(buffers.open().allocate(pieceBytes).buffer).toBe(one.buffer);
});

test('memory that is released twice is given to only one later frame', () => {
  const buffers = new SendBuffers();
  const first = buffers.open();
  first.allocate(pieceBytes);
  first.release();
  first.release();
  expect(buffers.open().allocate(pieceBytes).buffer).not.toBe(buffers.open().allocate(pieceBytes).buffer);
});

test('a small piece gets its own memory instead of a whole buffer', () => {
  const frame = new SendBuffers().open();
  expect(frame.allocate(100).buffer.byteLength).toBeLessThan(pieceBytes);
});
