import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { OutputChunk, Stream } from '../../contract/job.ts';
import { sanitise } from '../../output/sanitise.ts';
import { createStreamConverter } from './stream-text.ts';

const chunk = (text: string, stream: Stream = 'stdout'): OutputChunk => ({ stream, data: Buffer.from(text) });

describe('H7: streamed text', () => {
  test('has whole lines without terminal sequences, even if they are split between chunks', () => {
    const text = createStreamConverter();
    expect(text.push(chunk('\u001b[3'), 3)).toEqual([]);
    expect(text.push(chunk('1mred\u001b[0m\r\nnext'), 16)).toEqual([
      { stream: 'stdout', data: 'red\n', cursor: 12 },
    ]);
    expect(text.isHolding()).toBe(true);
    expect(text.flush(16)).toEqual([{ stream: 'stdout', data: 'next', cursor: 16 }]);
    expect(text.push(chunk('!\n'), 18)).toEqual([{ stream: 'stdout', data: '!\n', cursor: 18 }]);
    expect(text.end(18)).toEqual([]);
  });

  test('has the final state of a progress bar', () => {
    const text = createStreamConverter();
    expect(text.push(chunk('10%\r'), 4)).toEqual([]);
    expect([text.isHolding(), text.flush(4)]).toEqual([false, []]);
    expect(text.push(chunk('100%\n'), 9)).toEqual([{ stream: 'stdout', data: '100%\n', cursor: 9 }]);
  });

  test('returns an unfinished line before output of the other stream', () => {
    const text = createStreamConverter();
    text.push(chunk('name: '), 6);
    expect(text.push(chunk('bad\n', 'stderr'), 10)).toEqual([
      { stream: 'stdout', data: 'name: ', cursor: 6 },
      { stream: 'stderr', data: 'bad\n', cursor: 10 },
    ]);
  });

  test('E4: is the sanitised stream, however it arrives and is flushed', () => {
    const piece = fc.record({
      stream: fc.constantFrom<Stream>('stdout', 'stderr'),
      text: fc.string({ unit: fc.constantFrom('a', 'é', '\n', '\r\n', '\u001b[1m', ' '), maxLength: 8 }),
      flush: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (list) => {
        const text = createStreamConverter();
        const found = { stdout: '', stderr: '' };
        const all = { stdout: '', stderr: '' };
        const keep = (pieces: ReturnType<typeof text.end>) => {
          for (const { stream, data } of pieces) found[stream] += data;
        };
        let end = 0;
        for (const one of list) {
          all[one.stream] += one.text;
          end += Buffer.byteLength(one.text);
          keep(text.push(chunk(one.text, one.stream), end));
          if (one.flush) keep(text.flush(end));
        }
        keep(text.end(end));
        for (const stream of ['stdout', 'stderr'] as const)
          expect(found[stream]).toBe(sanitise(Buffer.from(all[stream])));
      }),
    );
  });
});
