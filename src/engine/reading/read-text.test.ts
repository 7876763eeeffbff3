import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import type { OutputChunk, Stream } from '../../contract/job.ts';
import { createMatcher } from '../../output/matcher.ts';
import { sanitise } from '../../output/sanitise.ts';
import { readText } from './read-text.ts';
import type { TextQuery, TextSource } from './text-query.ts';

const matcher = createMatcher();
afterAll(() => matcher.close());

/** A log in memory. */
function toSource(log: readonly OutputChunk[]): TextSource & { readonly end: number } {
  const bytes = log.flatMap(({ stream, data }) => [...data].map((byte) => ({ stream, byte })));
  return {
    matcher,
    end: bytes.length,
    async read(from, { maxBytes }) {
      const part = bytes.slice(from, from + maxBytes);
      const chunks = part.map(({ stream, byte }) => ({ stream, data: Uint8Array.of(byte) }));
      return { chunks, next: from + part.length, end: bytes.length, final: true };
    },
  };
}

const chunk = (stream: Stream, text: string): OutputChunk => ({ stream, data: Buffer.from(text) });
const usual = (end: number, rest: Partial<TextQuery> = {}): TextQuery => ({
  from: 0,
  end,
  final: true,
  maxChars: 100,
  keep: 'ends',
  view: 'clean',
  howToReadOn: (cursor) => `Read on from ${cursor}.`,
  ...rest,
});

const chunks = fc.array(
  fc.record({
    stream: fc.constantFrom<Stream>('stdout', 'stderr'),
    text: fc.string({ unit: fc.constantFrom('a', 'é', '😀', '\n', '\u001b[1m', 'word '), maxLength: 12 }),
  }),
  { maxLength: 12 },
);

describe('readText', () => {
  // The converter keeps the last 65,536 characters of an unfinished line, which may still be overwritten.
  test.each(['clean', 'raw'] as const)(
    'E4: a line that is longer than a reply is returned completely, %s',
    async (view) => {
      const text = Array.from({ length: 30_000 }, (_, index) => String(index).padStart(10)).join('');
      const bytes = Buffer.from(`first\n${text}`);
      const source: TextSource = {
        matcher,
        async read(from, { maxBytes }) {
          const data = bytes.subarray(from, from + maxBytes);
          return {
            ...{ chunks: [{ stream: 'stdout', data }], next: from + data.length },
            ...{ end: bytes.length, final: true },
          };
        },
      };
      let found = '';
      for (let from = 0; from < bytes.length; ) {
        const query = { from, maxChars: 200_000, keep: 'beginning', view } as const;
        const { stdout, next } = await readText(source, usual(bytes.length, query));
        expect(next).toBeGreaterThan(from);
        [found, from] = [found + stdout, next];
      }
      expect(found === bytes.toString()).toBe(true);
    },
  );

  test('E4: returns every character of each stream once and in order, piece by piece', async () => {
    await fc.assert(
      fc.asyncProperty(
        chunks,
        fc.oneof(fc.integer({ min: 1, max: 20 }), fc.constant(70_000)),
        async (list, maxChars) => {
          const log = list.map(({ stream, text }) => chunk(stream, text));
          const source = toSource(log);
          const found = { stdout: '', stderr: '' };
          for (let from = 0, rounds = 0; from < source.end; rounds += 1) {
            expect(rounds).toBeLessThan(source.end + 1);
            const piece = await readText(source, usual(source.end, { from, maxChars, keep: 'beginning' }));
            found.stdout += piece.stdout;
            found.stderr += piece.stderr;
            from = piece.next;
          }
          for (const stream of ['stdout', 'stderr'] as const) {
            const own = log.filter((one) => one.stream === stream).map(({ data }) => data);
            expect(found[stream]).toBe(sanitise(Buffer.concat(own)));
          }
        },
      ),
    );
  });

  test('cuts at a line if control characters make the text longer than its bytes', async () => {
    const line = `${'\u202e'.repeat(99)}\n`;
    const source = toSource([chunk('stdout', line.repeat(200))]);
    const { stdout, next } = await readText(
      source,
      usual(source.end, { maxChars: 66_000, keep: 'beginning' }),
    );
    expect(stdout).toBe(`${'<U+202E>'.repeat(99)}\n`.repeat(83));
    expect(next).toBe(83 * Buffer.byteLength(line));
  });

  test('leaves out what was read of one stream before', async () => {
    const log = [
      chunk('stdout', 'a\nb'),
      chunk('stderr', 'x\ny'),
      chunk('stdout', 'c\n'),
      chunk('stderr', 'z\n'),
    ];
    const source = toSource(log);
    for (const keep of ['beginning', 'ends', 'end'] as const) {
      const found = await readText(source, usual(source.end, { keep, skip: { stdout: 3, stderr: 5 } }));
      expect(found).toMatchObject({ stdout: 'c\n', stderr: 'yz\n', next: source.end });
    }
  });

  test('E4: never splits a character or an escape sequence while the log grows', async () => {
    await fc.assert(
      fc.asyncProperty(chunks, fc.array(fc.nat(60), { maxLength: 8 }), async (list, stops) => {
        const source = toSource(list.map(({ stream, text }) => chunk(stream, text)));
        const ends = [...stops.filter((stop) => stop < source.end).sort((a, b) => a - b), source.end];
        let text = '';
        let from = 0;
        for (const end of ends) {
          const piece = await readText(source, usual(end, { from, final: end === source.end }));
          text += piece.stdout + piece.stderr;
          from = piece.next;
        }
        expect(text).not.toMatch(/\ufffd|\u001b|\[1m/);
        expect(from).toBe(source.end);
      }),
    );
  });

  test('returns both ends of a longer output, with the size and the cursor of the omitted part', async () => {
    const lines = Array.from({ length: 1_000 }, (_, index) => `line ${index}\n`).join('');
    const source = toSource([chunk('stdout', lines)]);
    const found = await readText(source, usual(source.end));
    expect(found.stdout).toMatch(
      /^line 0\n[\s\S]*\[Output truncated: about 8\.\d kB left out\. Read on from 49\.\]\n/,
    );
    expect(found.stdout).toMatch(/\nline 999\n$/);
    expect(found).toMatchObject({ next: source.end, leftOutFrom: 49 });
    const onward = await readText(source, usual(source.end, { from: 49, keep: 'beginning' }));
    expect(onward.stdout).toMatch(/^line 7\n/);
  });

  test('puts the notice into stderr if stdout is empty', async () => {
    const source = toSource([chunk('stderr', 'problem\n'.repeat(100))]);
    const found = await readText(source, usual(source.end));
    expect(found.stdout).toBe('');
    expect(found.stderr).toContain('[Output truncated');
  });

  test('returns the last maxChars with keep: end', async () => {
    const source = toSource([chunk('stdout', 'début\n'.repeat(200)), chunk('stderr', 'last')]);
    const found = await readText(source, usual(source.end, { keep: 'end', maxChars: 20 }));
    expect(found).toMatchObject({ stderr: 'last', next: source.end });
    expect(found.stdout).toMatch(/^(?:.{0,5}\n)?(?:début\n)+$/);
    const one = await readText(source, usual(source.end, { keep: 'end', stream: 'stderr', view: 'raw' }));
    expect(one).toMatchObject({ stdout: '', stderr: 'last' });
  });

  test('returns escape sequences with view: raw', async () => {
    const source = toSource([chunk('stdout', '\u001b[31mred\u001b[0m\r\n10%\r20%')]);
    expect(await readText(source, usual(source.end, { view: 'raw' }))).toMatchObject({
      stdout: '\u001b[31mred\u001b[0m\r\n10%\r20%',
    });
    expect(await readText(source, usual(source.end))).toMatchObject({ stdout: 'red\n20%' });
  });

  test('continues a filtered output behind the last line that fit', async () => {
    const source = toSource([chunk('stdout', 'a1\nb\na2\nb\na3\n')]);
    const query = usual(source.end, { filter: '^a', maxChars: 6 });
    const first = await readText(source, query);
    expect(first).toMatchObject({ stdout: 'a1\na2\n', next: 10 });
    expect(await readText(source, { ...query, from: first.next })).toMatchObject({
      stdout: 'a3\n',
      next: 13,
    });
  });
});
