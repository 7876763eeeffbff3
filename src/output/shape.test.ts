import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { StreamBytes } from './collect-text.ts';
import { joinEnds, shapeOutput } from './shape.ts';

const how = 'Run it again with a larger max_output_chars, or narrow it with head, tail or grep.';
const whole = (text: string | Uint8Array): StreamBytes => ({ kind: 'whole', chunks: [Buffer.from(text)] });
const lines = (count: number, word = 'line') =>
  Array.from({ length: count }, (_, i) => `${word} ${i}\n`).join('');
const shape = (stdout: StreamBytes, stderr: StreamBytes, maxChars = 30_000) =>
  shapeOutput({ stdout, stderr }, { maxChars, how });
const noticeLine = /^\[Output truncated: .*\]$/gm;

const inChunks = (bytes: Uint8Array, size: number): StreamBytes => ({
  kind: 'whole',
  chunks: Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
    bytes.subarray(at * size, (at + 1) * size),
  ),
});

describe('output that fits', () => {
  test('is safe text without a truncation notice', () => {
    expect(shape(whole('\x1b[32mok\x1b[0m\r\n'), whole('10%\r100%\n'))).toEqual({
      stdout: 'ok\n',
      stderr: '100%\n',
      truncated: null,
    });
  });

  test('may arrive in small chunks', () => {
    const text = lines(3000, 'größe');
    expect(shape(inChunks(Buffer.from(text), 100), whole(''), 100_000).stdout).toBe(text);
  });

  test('is the same text in one chunk, which takes a shortcut for plain ASCII, and in many', () => {
    const plain = fc.string({ unit: 'grapheme-ascii', maxLength: 60 });
    const hostile = fc.constantFrom('\x1b[1m', '\r', '\b', '\0', '\x7f', '\u202e', 'ß', '\n', '\t', '\x07');
    const text = fc.array(fc.oneof(plain, hostile), { maxLength: 6 }).map((parts) => parts.join(''));
    fc.assert(
      fc.property(text, text, fc.integer({ min: 1, max: 120 }), (out, err, maxChars) => {
        const cut = (one: string) => inChunks(Buffer.from(one), 7);
        expect(shape(whole(out), whole(err), maxChars)).toEqual(shape(cut(out), cut(err), maxChars));
      }),
    );
  });

  test('of exactly the limit is kept completely', () => {
    const reply = shape(whole('a'.repeat(20_000)), whole('b'.repeat(10_000)));
    expect(reply.truncated).toBeNull();
    expect(reply.stdout.length + reply.stderr.length).toBe(30_000);
  });
});

describe('output over the limit', () => {
  test('B6: the beginning and the end are kept, with one notice that says how many are missing and how to get them', () => {
    const text = lines(10_000);
    const { stdout, truncated } = shape(whole(text), whole(''));
    const [head = '', tail = ''] = stdout.split(/^\[Output truncated.*\n/m);
    const omitted = text.length - head.length - tail.length;
    expect(
      text.startsWith(head) && text.endsWith(tail) && head.endsWith('\n') && tail.startsWith('line'),
    ).toBe(true);
    expect(head.length + tail.length).toBeLessThanOrEqual(30_000);
    expect(head.length + tail.length).toBeGreaterThan(27_000);
    expect(truncated?.omittedChars).toBe(omitted);
    const count = omitted.toLocaleString('en-US');
    const leftOut = text.split('\n').length - (head + tail).split('\n').length;
    expect(truncated?.omittedLines).toBe(leftOut);
    const inLines = leftOut.toLocaleString('en-US');
    expect(stdout.match(noticeLine)).toEqual([
      `[Output truncated: ${count} characters (${inLines} lines) left out. ${how}]`,
    ]);
    expect(truncated?.notice).toBe(stdout.match(noticeLine)?.[0]);
  });

  test('B6: without cuts at lines, exactly 30000 characters are kept', () => {
    const text = lines(10_000);
    const streams = { stdout: whole(text), stderr: whole('') };
    const { stdout, truncated } = shapeOutput(streams, { maxChars: 30_000, how, cutAtLines: false });
    expect(text.length - (truncated?.omittedChars ?? 0)).toBe(30_000);
    expect(stdout.startsWith(text.slice(0, 15_000)) && stdout.endsWith(text.slice(-15_000))).toBe(true);
  });

  test('the limit applies to both streams together, and a small stream is kept completely', () => {
    const { stdout, stderr } = shape(whole('x'.repeat(90_000)), whole('e'.repeat(10_000)));
    expect(stderr).toBe('e'.repeat(10_000));
    expect(stdout.replace(noticeLine, '').replaceAll('\n', '')).toHaveLength(20_000);
  });

  test('if both are cut, one notice has the sum and a short mark is put into the other stream', () => {
    const { stdout, stderr, truncated } = shape(whole('x'.repeat(90_000)), whole('e'.repeat(45_001)));
    expect(truncated?.omittedChars).toBe(105_001);
    expect(stderr.replace(/\[.*\]|\n/g, '')).toHaveLength(22_500);
    expect(`${stdout}\n${stderr}`.match(noticeLine)).toHaveLength(1);
    expect(stderr).toContain('e\n[22,501 characters left out here.]\ne');
  });

  test('if only stderr is cut, the notice is in stderr', () => {
    const { stdout, stderr } = shape(whole('ok\n'), whole('e'.repeat(30_000)), 1000);
    expect(stdout).toBe('ok\n');
    expect(stderr.match(noticeLine)).toHaveLength(1);
  });

  test('one omitted character is reported in the singular', () => {
    const { truncated } = shape(whole('abc'), whole(''), 2);
    expect(truncated?.notice).toBe(`[Output truncated: 1 character left out. ${how}]`);
  });

  test('for any two streams the kept text is within the limit and the count is correct', () => {
    const text = fc.string({ unit: fc.constantFrom('a', '\n', '漢', '😀'), maxLength: 300 });
    fc.assert(
      fc.property(text, text, fc.integer({ min: 1, max: 300 }), (out, err, maxChars) => {
        const reply = shapeOutput(
          { stdout: whole(out), stderr: whole(err) },
          { maxChars, how, cutAtLines: false },
        );
        const total = out.length + err.length;
        expect(reply.truncated === null).toBe(total <= maxChars);
        if (reply.truncated === null) expect([reply.stdout, reply.stderr]).toEqual([out, err]);
        const kept = total - (reply.truncated?.omittedChars ?? 0);
        expect(kept).toBeLessThanOrEqual(maxChars);
        if (reply.truncated) expect(kept).toBeGreaterThanOrEqual(maxChars - 4);
        expect(reply.stdout + reply.stderr).not.toMatch(/\p{Surrogate}/u);
      }),
    );
  });
});

describe('a stream of which only the ends are read', () => {
  const ends = (head: string | Uint8Array, tail: string | Uint8Array, totalBytes: number): StreamBytes => ({
    kind: 'ends',
    head: Buffer.from(head),
    tail: Buffer.from(tail),
    totalBytes,
  });

  test('E3: shows whole lines of both ends and reports the rest in bytes', () => {
    const head = `${lines(40)}half a li`;
    const tail = `31mhalf a sequence\n${lines(40, 'last')}`;
    const { stdout, truncated } = shape(ends(head, tail, 256_000_000), whole(''));
    expect(stdout).toBe(`${lines(40)}${truncated?.notice}\n${lines(40, 'last')}`);
    expect(truncated?.notice).toBe(`[Output truncated: about 256.0 MB left out. ${how}]`);
    expect(truncated?.omittedBytes).toBe(256_000_000 - lines(40).length - lines(40, 'last').length);
    expect(truncated?.omittedChars).toBeUndefined();
  });

  test('is cut further to the limit', () => {
    const { stdout } = shape(ends(lines(9000), lines(9000), 9_000_000), whole(''), 2000);
    expect(stdout.replace(noticeLine, '').length).toBeLessThanOrEqual(2001);
    expect(stdout).toMatch(/^line 0\n/);
    expect(stdout).toMatch(/\nline 8999\n$/);
  });

  test('next to a stream counted in characters, the notice has both units', () => {
    const { truncated } = shape(ends('a\n', 'b\nc\n', 5_000_000), whole('e'.repeat(3000)), 1000);
    expect(truncated?.notice).toMatch(/^\[Output truncated: about 5\.0 MB and 2,00\d characters left out\. /);
  });

  test('is read as a whole if its ends meet or overlap', () => {
    const reply = shape(ends('one\ntwo\n', 'two\nthree\n', 14), whole(''));
    expect(reply).toEqual({ stdout: 'one\ntwo\nthree\n', stderr: '', truncated: null });
  });

  test('is reported as cut even if its sanitised text is longer than its bytes', () => {
    const bidi = '\u202e\n'.repeat(50);
    const { truncated } = shape(ends(bidi, bidi, 2 * Buffer.byteLength(bidi) + 10), whole(''));
    expect(truncated?.notice).toContain('about 1 byte left out');
  });
});

describe('output that is not text', () => {
  const png = Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), Buffer.alloc(12_337)]);
  const line =
    '[Binary output: PNG image, 12,345 bytes. Redirect it to a file, or pipe it through base64 or xxd | head.]';

  test('becomes a one-line notice for any limit', () => {
    const stream = inChunks(png, 1000);
    expect(shape(stream, whole('ok\n'), 10)).toEqual({ stdout: line, stderr: 'ok\n', truncated: null });
  });

  test('is recognised by the head of a stream that is not read completely', () => {
    const stream: StreamBytes = {
      kind: 'ends',
      head: png.subarray(0, 5000),
      tail: png.subarray(-5000),
      totalBytes: 12_345,
    };
    expect(shape(whole(''), stream).stderr).toBe(line);
  });

  test('NUL-separated names are shown one per line', () => {
    expect(shape(whole('./a\0./b\0'), whole('')).stdout).toBe('./a\n./b\n');
  });
});

test('ends are joined with the notice on its own line', () => {
  expect(joinEnds({ head: 'a', tail: 'b', joined: false }, '[x]')).toBe('a\n[x]\nb');
  expect(joinEnds({ head: '', tail: 'b', joined: false }, '[x]')).toBe('[x]\nb');
});
