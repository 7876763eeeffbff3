import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type Line, splitLines } from './split-lines.ts';

function linesOf(chunks: readonly Buffer[], maxBytes: number): Line[] {
  const lines: Line[] = [];
  const push = splitLines(maxBytes, (line) => lines.push(line));
  for (const chunk of chunks) push(chunk);
  return lines;
}

it('finds the same lines however the bytes arrive', () => {
  const bytes = fc
    .uint8Array({ maxLength: 300 })
    .map((array) => array.map((byte) => (byte % 7 === 0 ? 10 : byte)));
  fc.assert(
    fc.property(bytes, fc.array(fc.nat({ max: 300 }), { maxLength: 10 }), (array, places) => {
      const text = Buffer.from(array);
      const cuts = [
        0,
        ...places.map((place) => place % (text.length + 1)).sort((a, b) => a - b),
        text.length,
      ];
      const chunks = cuts.slice(1).map((cut, index) => text.subarray(cuts[index], cut));
      const whole = linesOf(chunks, 1_000).map((line) =>
        line.kind === 'whole' ? line.bytes.toString('latin1') : '',
      );
      expect(whole).toEqual(text.toString('latin1').split('\n').slice(0, -1));
    }),
  );
});

it('keeps both ends of a line over the limit, and takes up again after it', () => {
  const long = `start ${'x'.repeat(5_000)} end`;
  for (const size of [1, 700, 10_000]) {
    const text = Buffer.from(`before\n${long}\nafter\n`);
    const chunks = Array.from({ length: Math.ceil(text.length / size) }, (_, index) =>
      text.subarray(index * size, (index + 1) * size),
    );
    const [before, tooLong, after] = linesOf(chunks, 2_000);
    expect(before).toEqual({ kind: 'whole', bytes: Buffer.from('before') });
    expect(tooLong).toEqual({ kind: 'too_long', head: long.slice(0, 1_024), tail: long.slice(-1_024) });
    expect(after).toEqual({ kind: 'whole', bytes: Buffer.from('after') });
  }
});

it('a line of exactly the limit is whole', () => {
  expect(linesOf([Buffer.from('12345\n123456\n')], 5).map(({ kind }) => kind)).toEqual(['whole', 'too_long']);
});
