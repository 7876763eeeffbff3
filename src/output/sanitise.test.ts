import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { soakCount } from '../../tests/support/soak.ts';
import { createSanitiser, sanitise } from './sanitise.ts';
import { maxParameterChars, maxStringChars } from './strip-vt.ts';
import { maxHeldChars } from './visible-line.ts';

const clean = (text: string) => sanitise(Buffer.from(text));

function inChunks(bytes: Uint8Array, sizes: readonly number[]): string {
  const sanitiser = createSanitiser();
  let text = '';
  let at = 0;
  for (const size of sizes) {
    text += sanitiser.push(bytes.subarray(at, at + size));
    at += size;
  }
  return text + sanitiser.push(bytes.subarray(at)) + sanitiser.end();
}

/** Text fragments: ordinary text, controls, whole and broken sequences, wide and invisible characters. */
const wildPiece = fc.oneof(
  fc.constantFrom(
    ...'\r\n\t\b\0\x07\x0e\x18\x7f[];?KmC0123456789GHPX_^\\()B',
    '\r\n',
    '\x1b',
    '\x1b[',
    '\x1b]0;',
  ),
  fc.constantFrom(
    '\x1b[K',
    '\x1b[1K',
    '\x1b[2K',
    '\x1b[3C',
    '\x1b[2D',
    '\x1b[5G',
    '\x1b[A',
    '\x1b[2;9H',
    '\x1b[J',
  ),
  fc.constantFrom('\x1b7', '\x1b8', '\x1b[s', '\x1b[u', '\x1b(B', '\x1b\\', '\x1b[31m', '\x1bE', '\x1b[999C'),
  fc.constantFrom(
    '\x9b',
    '\x9d',
    '\x9c',
    '\x90',
    '\x85',
    '漢',
    '字',
    '👩‍💻',
    'e\u0301',
    '\u202e',
    '\u2066',
    '\ufeff',
    '█',
  ),
  fc.constantFrom('\u{e0041}', '\u{e0100}', '\u200d', '10%', 'progress', '\x1b_Ga=T;AAAA\x1b\\'),
);
const wildBytes = fc.oneof(
  fc.array(wildPiece, { maxLength: 60 }).map((pieces) => Buffer.from(pieces.join(''))),
  fc.uint8Array({ maxLength: 200 }),
);

describe('characters', () => {
  test('H3: characters split between chunks stay intact', () => {
    const bytes = Buffer.from('größe 漢字 👩‍💻\n');
    expect(inChunks(bytes, Array(bytes.length).fill(1))).toBe('größe 漢字 👩‍💻\n');
  });

  test('H3: invalid bytes become as many U+FFFD as in one call of TextDecoder', () => {
    fc.assert(
      fc.property(fc.uint8Array({ min: 0xa0, maxLength: 40 }), fc.array(fc.nat(4)), (bytes, sizes) => {
        const expected = new TextDecoder().decode(bytes);
        fc.pre(!/[\x80-\x9f\u202a-\u202e\u2066-\u206f\udb40]/.test(expected));
        expect(inChunks(bytes, sizes)).toBe(expected);
      }),
    );
    expect(sanitise(Buffer.from([0x61, 0xff, 0x62, 0xe6, 0xbc]))).toBe('a\ufffdb\ufffd');
  });

  test('reusing the memory of a chunk does not change the text', () => {
    const sanitiser = createSanitiser();
    const chunk = Buffer.from([0x61, 0xe6, 0xbc]);
    sanitiser.push(chunk);
    chunk.fill(0x7a);
    expect(sanitiser.push(Buffer.from([0xa2])) + sanitiser.end()).toBe('a漢');
  });

  test('a byte order mark is kept', () => {
    expect(inChunks(Buffer.from('\ufeffa\ufeffb'), [1, 1, 1])).toBe('\ufeffa\ufeffb');
  });

  test('control characters become pictures, and BEL and charset shifts disappear', () => {
    expect(clean('a\0b\x01c\x1fd\x7fe\ff')).toBe('a␀b␁c␟d␡e␌f');
    expect(clean('a\x07b\x0ec\x0fd')).toBe('abcd');
    expect(clean('a\x85b\x80c')).toBe('a<U+0085>b<U+0080>c');
  });

  test('NUL ends a line in NUL-separated text', () => {
    expect(sanitise(Buffer.from('a\0b\0'), { nul: 'newline' })).toBe('a\nb\n');
  });

  test('deceptive characters are shown by code point, and emoji survive', () => {
    expect(clean('if (a\u202e) b\u2066c\u2069')).toBe('if (a<U+202E>) b<U+2066>c<U+2069>');
    expect(clean('hi\u{e0068}\u{e0069}')).toBe('hi<U+E0068><U+E0069>');
    expect(clean('👩‍💻 ❤️ 葛\u{e0100} می\u200cخواهم')).toBe('👩‍💻 ❤️ 葛\u{e0100} می\u200cخواهم');
  });
});

describe('sequences', () => {
  test.each([
    ['colours', '\x1b[1;31mred\x1b[0m text', 'red text'],
    ['8-bit CSI', 'a\x9b31mb', 'ab'],
    ['private modes', '\x1b[?25lhidden\x1b[?25h', 'hidden'],
    ['intermediates', 'a\x1b[0 qb\x1b[!pc', 'abc'],
    ['a window title ended by BEL', '\x1b]0;title\x07text', 'text'],
    ['a hyperlink ended by ST', '\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\', 'link'],
    ['8-bit OSC and ST', 'a\x9d0;t\x9cb', 'ab'],
    ['DCS, SOS, PM, APC', 'a\x1bPq#0\x1b\\b\x1bXs\x1b\\c\x1b^p\x1b\\d\x1b_g\x1b\\e', 'abcde'],
    ['charset selects', '\x1b(B\x1b)0\x1b#8text\x1b%G', 'text'],
    ['two-character escapes', '\x1b=a\x1b>b\x1bcc', 'abc'],
  ])('H3: %s are removed whole, however they are split', (_, raw, shown) => {
    const bytes = Buffer.from(raw);
    expect(clean(raw)).toBe(shown);
    expect(inChunks(bytes, Array(bytes.length).fill(1))).toBe(shown);
  });

  test('a string that never ends does not swallow what follows', () => {
    expect(clean('a\x1b]0;title\nnext line\n')).toBe('a␛]0;title\nnext line\n');
    expect(clean('â\x9dtext\x1b[31m red\n')).toBe('â<U+009D>text red\n');
    expect(clean('a\x1b]0;tit\rle')).toBe('le]0;tit');
    const long = 'x'.repeat(3 * maxStringChars);
    expect(clean(`\x1bP${long}\n`)).toBe(`␛P${long}\n`);
    expect(clean(`\x1bP😀${long}`)).toBe(`␛P😀${long}`);
  });

  test('a string of the longest accepted length is removed', () => {
    expect(clean(`a\x1b_${'x'.repeat(maxStringChars)}\x1b\\b`)).toBe('ab');
    const longer = `a\x1b_${'x'.repeat(maxStringChars + 1)}\x07b`;
    expect(clean(longer)).toBe(`a␛_${'x'.repeat(maxStringChars + 1)}b`);
    expect(inChunks(Buffer.from(longer), Array(9).fill(1000))).toBe(clean(longer));
  });

  test('a malformed sequence is shown as harmless text', () => {
    expect(clean('\x1b[12é\x1bé\x1b\x1b[1mx')).toBe('␛[12é␛é␛x');
    expect(clean('\x1b[3\n1m')).toBe('␛[3\n1m');
    const long = '1;'.repeat(maxParameterChars);
    expect(clean(`\x1b[${long}m`)).toBe(`␛[${long}m`);
    expect(clean(`\x1b${' '.repeat(maxParameterChars + 1)}F`)).toBe(`␛${' '.repeat(maxParameterChars + 1)}F`);
  });

  test('a sequence that the end of output cuts off disappears', () => {
    expect(clean('text\x1b[3')).toBe('text');
    expect(clean('text\x1b')).toBe('text');
    expect(clean('text\x1b]0;t\x1b')).toBe('text');
    expect(clean('text\x1b]0;shown')).toBe('text␛]0;shown');
  });
});

describe('the visible line', () => {
  test.each([
    ['H3: CRLF becomes LF', 'a\r\nb\r\r\n', 'a\nb\n'],
    ['H3: a bare CR leaves the final visible text', '10%\r20%\r100%\n', '100%\n'],
    ['H3: a shorter rewrite keeps the longer tail', 'abcdef\rXY\n', 'XYcdef\n'],
    ['a CR at the end changes nothing', 'abc\r', 'abc'],
    ['return and erase shows the last state', 'long text\r\x1b[Kok\n', 'ok\n'],
    ['erase after colour leaves the text', 'a\x1b[m\x1b[Kb\n', 'ab\n'],
    ['erase in a rewritten line', 'abcdef\rXY\x1b[K\n', 'XY\n'],
    ['erase to the start', 'abcdef\x1b[4G\x1b[1K\n', '    ef\n'],
    ['erase to the start from the end', 'abc\x1b[1Kd', '   d'],
    ['erase the whole line', 'abc\x1b[2K\rd\n', 'd\n'],
    ['an unknown kind of erase', 'abc\x1b[7K\n', 'abc\n'],
    ['erase below', 'abc\r\x1b[Jd\n', 'd\n'],
    ['clearing the screen keeps earlier output', 'abc\x1b[2J\x1b[Hd\n', 'abc\nd\n'],
    ['cursor right and left', 'ab\x1b[2Cc\x1b[3Dd\n', 'abd c\n'],
    ['cursor to a column', 'abc\x1b[Gx\x1b[6Gy\n', 'xbc  y\n'],
    ['a column beyond the right edge', '\x1b[999Cx\n', `${' '.repeat(256)}x\n`],
    ['a spinner', 'wait |\b/\b-\b\\\bdone\n', 'wait done\n'],
    ['overstruck headings', 'N\bNA\bA_\bx\n', 'NAx\n'],
    ['backspace at the start', '\b\ba\n', 'a\n'],
    ['a tab moves over text', 'abcdefghij\r\tX\n', 'abcdefghXj\n'],
    ['a tab that is overwritten becomes blanks', 'a\tb\rXY\n', 'XY      b\n'],
    ['a tab past the end is kept', 'abc\rX\x1b[K\ty\n', 'X\ty\n'],
    ['a tab beyond a short text', 'abc\r\tX\n', 'abc     X\n'],
    ['half of a wide character becomes a blank', '漢字\rx\n', 'x 字\n'],
    ['the second half too', '漢字\x1b[2Gx\n', ' x字\n'],
    ['a wide character over narrow ones', 'abcd\r漢\n', '漢cd\n'],
    ['erasing from the middle of a wide one', '漢字\x1b[4G\x1b[K\n', '漢 \n'],
    ['combining marks belong to their letter', 'e\u0301a\rX\n', 'Xa\n'],
    ['a mark with nothing before it', 'a\r\u0301\n', '\u0301\n'],
    ['a joined emoji is one glyph', '👩‍💻ab\rxy\n', 'xyab\n'],
    ['another row is another line', 'foo\x1b[5;3Hbar\x1b[Abaz\x1bMend\n', 'foo\n  bar\nbaz\nend\n'],
    ['another row from an empty line', 'a\n\x1b[1A\x1b[2Kb\n', 'a\nb\n'],
    ['save and restore in one line', 'at \x1b7 10%\x1b8 20%\n', 'at  20%\n'],
    ['save and restore over a line end', 'at \x1b[s\nnew\x1b[uend\n', 'at \nnew\nend\n'],
    ['restore without save', 'a\x1b8b\n', 'a\nb\n'],
    ['a rewrite ends with its line', 'abc\rX\nabc\n', 'Xbc\nabc\n'],
  ])('%s', (_, raw, shown) => {
    expect(clean(raw)).toBe(shown);
  });

  test('H3: plain rewrites match a naive terminal model', () => {
    const draw = (line: string) =>
      line.split('\r').reduce((shown, part) => part + shown.slice(part.length), '');
    const lines = fc.array(fc.stringMatching(/^[a-e\r]{0,20}$/), { maxLength: 5 });
    fc.assert(fc.property(lines, (all) => clean(all.join('\n')) === all.map(draw).join('\n')));
  });

  test('pending returns the unfinished line', () => {
    const sanitiser = createSanitiser();
    expect(sanitiser.push(Buffer.from('done\nName? '))).toBe('done\n');
    expect(sanitiser.pending()).toBe('Name? ');
    sanitiser.push(Buffer.from('\rAge'));
    expect(sanitiser.pending()).toBe('Agee? ');
  });

  test('an endless line is returned in pieces, and only its held part can be rewritten', () => {
    const text = 'x'.repeat(maxHeldChars + 3);
    expect(clean(`${text}\rY\n`)).toBe(`${'x'.repeat(maxHeldChars)}Yxx\n`);
    const astral = `x${'😀'.repeat(maxHeldChars)}`;
    expect(clean(astral)).toBe(astral);
  });

  test('an endless rewritten line is returned in pieces as well', () => {
    const text = `ab\r${'x'.repeat(maxHeldChars + 3)}`;
    expect(clean(`${text}\rY\n`)).toBe(`${'x'.repeat(maxHeldChars + 1)}Yx\n`);
    const tabs = `ab\r\x1b[K\x1b[3G${'\t'.repeat(maxHeldChars)}`;
    expect(clean(tabs)).toBe(`  ${'\t'.repeat(maxHeldChars)}`);
  });
});

describe('for any bytes', () => {
  test('H3: any chunking produces the same text as one chunk', () => {
    fc.assert(
      fc.property(wildBytes, fc.array(fc.nat(6), { maxLength: 80 }), (bytes, sizes) => {
        expect(inChunks(bytes, sizes)).toBe(sanitise(bytes));
      }),
      { numRuns: soakCount(1_500, 400) },
    );
  });

  test('chunking does not matter near the length limits either', () => {
    const near = fc.integer({ min: maxHeldChars - 4, max: maxHeldChars + 4 });
    const bulk = near.chain((n) =>
      fc.constantFrom('x'.repeat(n), '\t'.repeat(n), `😀${'x'.repeat(n)}`, `x${'😀'.repeat(n)}`),
    );
    const opener = fc.constantFrom('', 'ab\r', '\x1b]', '\x1b[1', '漢\b');
    fc.assert(
      fc.property(
        opener,
        bulk,
        wildBytes,
        fc.array(fc.integer({ min: 1, max: 70_000 })),
        (start, long, rest, sizes) => {
          const bytes = Buffer.concat([Buffer.from(start + long), rest]);
          expect(inChunks(bytes, sizes) === sanitise(bytes)).toBe(true);
        },
      ),
      { numRuns: soakCount(60, 20) },
    );
  });

  test('H3: the text never contains ESC, C1, a bare CR, NUL or a bidi override', () => {
    fc.assert(
      fc.property(wildBytes, (bytes) => {
        expect(sanitise(bytes)).not.toMatch(/[\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u206f]/);
      }),
      { numRuns: soakCount(1_500, 400) },
    );
  });

  test('text without control characters is unchanged', () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 200 });
    const plain = fc
      .oneof(text, fc.string({ unit: 'binary' }), fc.constant('a\tb\n'))
      .map((s) =>
        s.replace(/(?![\t\n])[\p{Cc}\p{Cs}\u202a-\u202e\u2066-\u206f\ufeff\u{e0000}-\u{e007f}]/gu, ''),
      );
    const isUnchanged = (parts: readonly string[]) => clean(parts.join('\n')) === parts.join('\n');
    fc.assert(fc.property(fc.array(plain), isUnchanged), { numRuns: soakCount(100, 40) });
  });
});

describe('time', () => {
  const wide = 'x'.repeat(maxHeldChars - 10);
  test.each([
    ['erasing to the start', wide, '\x1b[2D\x1b[1K'],
    ['erasing to the start after a rewrite', wide, '\rx\x1b[65000C\x1b[1K'],
    ['marks on a full row', wide, '\re\u0301'.repeat(2)],
    ['moving back and forth', wide, '\x1b[G\x1b[65000G\x1b[s\x1b[u'],
    ['padding repeatedly', '', '\r\x1b[K\x1b[999Cx'],
    ['leaving rows', wide, '\x1b[A\x1b[9;200Hx'],
    ['strings that break off', '', `\x1b]${'x'.repeat(100)}\x1b`],
  ])('H3: %s takes a bounded time per byte', (_, start, unit) => {
    const bytes = Buffer.from(start + unit.repeat(soakCount(2_097_152, 524_288) / unit.length));
    // Measure `process.cpuUsage`, because wall-clock time on a busy machine is not the cost of the work.
    const started = process.cpuUsage();
    sanitise(bytes);
    expect(process.cpuUsage(started).user).toBeLessThan(soakCount(4_000_000, 1_000_000));
  });

  test('a rewritten row that gets too long is returned as it is', () => {
    const text = clean(`${wide}\r${'e\u0301'.repeat(11)}tail\n`);
    expect(text).toBe(`${'e\u0301'.repeat(11)}${'x'.repeat(maxHeldChars - 21)}tail\n`);
  });

  test('a row too wide for any terminal is not blanked', () => {
    expect(clean(`${'x'.repeat(2000)}\x1b[5D\x1b[1K\n`)).toBe(`${'x'.repeat(2000)}\n`);
  });
});

describe('memory', () => {
  setFlagsFromString('--expose-gc');
  const collectGarbage: () => void = runInNewContext('gc');

  test.each([
    ['an endless line', '', 'x'],
    ['an endless rewritten line', '', 'a\bbc'],
    ['an endless string', '\x1b]', 'x'],
    ['strings that never end', '', '\x1b]\x1bPx'],
    ['endless marks', 'ab', '\r\u0301'],
    ['endless tabs in cells', '', '\b\t\t\t'],
  ])('E3: memory stays bounded for %s', (_, start, unit) => {
    const sanitiser = createSanitiser();
    sanitiser.push(Buffer.from(start));
    const chunk = Buffer.from(unit.repeat(65_536 / unit.length));
    let chars = 0;
    collectGarbage();
    const before = process.memoryUsage().heapUsed;
    for (let bytes = 0; bytes < soakCount(8, 4) * 1_048_576; bytes += chunk.length)
      chars += sanitiser.push(chunk).length;
    collectGarbage();
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(3 * 1_048_576);
    expect(sanitiser.pending().length).toBeLessThanOrEqual(maxHeldChars);
    expect(chars + sanitiser.end().length).toBeGreaterThan(0);
  });
});
