import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createProgressTracker } from './progress-tracker.ts';

function snapshotAfter(...chunks: readonly (readonly ['stdout' | 'stderr', string | Uint8Array])[]) {
  const progress = createProgressTracker();
  for (const [stream, chunk] of chunks) progress.push(stream, Buffer.from(chunk));
  return progress.snapshot();
}

describe('live progress', () => {
  test('B17: counts lines and bytes of both streams', () => {
    expect(snapshotAfter(['stdout', 'a\nb\n'], ['stderr', 'c\nd'])).toEqual({
      lines: 3,
      bytes: 7,
      lastLine: 'd',
    });
    expect(createProgressTracker().snapshot()).toEqual({ lines: 0, bytes: 0, lastLine: '' });
  });

  test('the last line is the one that a terminal would show', () => {
    expect(snapshotAfter(['stdout', 'start\n\x1b[32m10%\r55'], ['stdout', '%\x1b[0m done']).lastLine).toBe(
      '55% done',
    );
  });

  test('empty lines and empty chunks do not hide the last line with text', () => {
    expect(snapshotAfter(['stdout', 'one\n\n  \n'], ['stderr', '']).lastLine).toBe('one');
    expect(snapshotAfter(['stdout', 'one\n'], ['stderr', '\n']).lastLine).toBe('one');
  });

  test('the stream that wrote last is shown', () => {
    expect(snapshotAfter(['stderr', 'warning\n'], ['stdout', 'step 2\n']).lastLine).toBe('step 2');
  });

  test('a long line is cut to 200 characters, never inside a pair', () => {
    expect(snapshotAfter(['stdout', 'x'.repeat(500)]).lastLine).toBe('x'.repeat(200));
    expect(snapshotAfter(['stdout', `x${'😀'.repeat(150)}`]).lastLine).toBe(`x${'😀'.repeat(99)}`);
  });

  test('half a sequence or character at the start of the kept bytes is not shown', () => {
    expect(snapshotAfter(['stdout', '漢'.repeat(5000)]).lastLine).toMatch(/^漢+$/);
    const { lastLine } = snapshotAfter(['stdout', '\x1b[38;5;200mword \x1b[0m'.repeat(1000)]);
    expect(lastLine).toMatch(/^(word ){30,}/);
  });

  test('half a character at the end is not shown until its other half arrives', () => {
    expect(snapshotAfter(['stdout', Buffer.from('so far 漢').subarray(0, -1)]).lastLine).toBe('so far');
  });

  test('any chunking produces the same snapshot', () => {
    const output = Array.from({ length: 600 }, (_, i) => `line ${i} größe\r\n`).join('');
    const bytes = Buffer.from(output);
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 3000 }), { minLength: 1, maxLength: 20 }), (sizes) => {
        const progress = createProgressTracker();
        let at = 0;
        for (const size of sizes) {
          progress.push('stdout', bytes.subarray(at, at + size));
          at += size;
        }
        progress.push('stdout', bytes.subarray(at));
        expect(progress.snapshot()).toEqual({ lines: 600, bytes: bytes.length, lastLine: 'line 599 größe' });
      }),
    );
  });
});
