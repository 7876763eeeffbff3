import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { LogStore } from '../../src/console/worker/log-store.ts';
import { OpenLog } from '../../src/console/worker/open-log.ts';
import { compilePattern } from '../../src/console/worker/pattern.ts';
import { countCells, showLine, showOdd, toShownText } from '../../src/console/worker/visible-text.ts';
import { cpuMsOf } from '../support/cpu-time.ts';

const encode = (text: string) => new TextEncoder().encode(text);
const textsOf = (store: LogStore) =>
  store.rows(0, 100_000).map(({ pieces }) => pieces.map(({ text }) => text).join(''));

/** A log that got its bytes in these pieces. */
function toStore(bytes: Uint8Array, cuts: readonly number[]): LogStore {
  const store = new LogStore(0);
  const places = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  for (const [index, from] of places.slice(0, -1).entries())
    store.append(bytes.subarray(from, places[index + 1]), index * 10, false);
  return store;
}

describe('an output log in the page', () => {
  test('any bytes in any pieces give the same rows', () => {
    const words = fc.constantFrom(
      'a',
      '\n',
      '\r\n',
      '\r',
      '\u001b[31m',
      '\u001b[0m',
      'é',
      '漢',
      '\u0000',
      '\u001b]0;x\u0007',
      'long text ',
    );
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 300 }),
      fc.array(words, { maxLength: 120 }).map((parts) => encode(parts.join(''))),
    );
    fc.assert(
      fc.property(bytes, fc.array(fc.nat(), { maxLength: 8 }), (data, cuts) => {
        const [whole, cut] = [toStore(data, []), toStore(data, cuts)];
        expect(textsOf(cut)).toEqual(textsOf(whole));
        expect(cut.rows(0, 1_000).map(({ pieces }) => pieces)).toEqual(
          whole.rows(0, 1_000).map(({ pieces }) => pieces),
        );
        expect(cut.end).toBe(data.length);
      }),
      { numRuns: 400 },
    );
  });

  test('colours continue over lines, even when rows are read from the middle', () => {
    const store = new LogStore(0);
    store.append(encode(`\u001b[31mred\n${'more\n'.repeat(600)}\u001b[0mplain\n`), 0, false);
    expect(store.rows(0, 1)[0]?.pieces).toEqual([{ text: 'red', classes: 'f1' }]);
    expect(store.rows(500, 1)[0]?.pieces).toEqual([{ text: 'more', classes: 'f1' }]);
    expect(store.rows(601, 1)[0]?.pieces).toEqual([{ text: 'plain', classes: '' }]);
  });

  test('streams, times and byte positions belong to lines', () => {
    const store = new LogStore(100);
    store.append(encode('one\n'), 5, false);
    store.append(encode('two\n'), 1_500, true);
    expect(store.rows(store.firstLine, 5)).toMatchObject([
      { cursor: 100, ms: 5, fromStderr: false, isNewSecond: true },
      { cursor: 104, ms: 1_500, fromStderr: true, isNewSecond: true },
    ]);
    expect(store.lineAt(105)).toBe(store.firstLine + 1);
  });

  test('a line of 5 MB shows its beginning, and memory stays below a limit', () => {
    const store = new LogStore(0);
    store.append(encode('x'.repeat(5_000_000)), 0, false);
    const [row] = store.rows(0, 1);
    expect(row?.more).toBe(5_000_000 - 4_096);
    const piece = encode(`${'y'.repeat(99)}\n`.repeat(20_000));
    for (let count = 0; count < 45; count += 1) store.append(piece, 0, false);
    expect(store.firstLine).toBeGreaterThan(0);
    expect(store.lines).toBe(45 * 20_000);
    expect(store.rows(store.lines - 1, 1)[0]?.pieces[0]?.text).toHaveLength(99);
  });

  test('skipped bytes are counted, and the output continues after them', () => {
    const store = new LogStore(0);
    store.append(encode('first\n'), 0, false);
    store.skip(1_000);
    store.append(encode('last\n'), 0, false);
    expect(store.skippedBytes).toBe(994);
    expect(store.rows(store.firstLine, 10)).toMatchObject([{ number: null, cursor: 1_000 }]);
  });

  test('parts that are put before a log give the same rows as the whole', () => {
    const piece = fc.constantFrom(
      'a',
      'bc\n',
      '\n',
      '\u001b[31mred',
      '\u001b[0m',
      'x'.repeat(50),
      '\n'.repeat(300),
    );
    fc.assert(
      fc.property(
        fc.array(piece, { minLength: 1, maxLength: 30 }),
        fc.array(fc.nat(10_000), { maxLength: 4 }),
        (pieces, places) => {
          const bytes = encode(pieces.join(''));
          const cuts = [...new Set(places.map((at) => at % bytes.length))].sort((one, other) => one - other);
          const bounds = [0, ...cuts.filter((at) => at > 0), bytes.length];
          const store = new LogStore(bounds.at(-2) ?? 0);
          store.append(bytes.subarray(bounds.at(-2)), 7, false);
          for (let index = bounds.length - 3; index >= 0; index -= 1) {
            const part = bytes.subarray(bounds[index], bounds[index + 1]);
            store.prepend([{ bytes: part, ms: 7, isStderr: false }], bounds[index] ?? 0);
          }
          const whole = new LogStore(0);
          whole.append(bytes, 7, false);
          const toSeen = (log: LogStore) =>
            log
              .rows(log.firstLine, 10_000)
              .map(({ number, cursor, pieces: shown }) => [
                number,
                cursor,
                shown.map(({ text }) => text).join(''),
              ]);
          expect(toSeen(store)).toEqual(toSeen(whole));
        },
      ),
      { numRuns: 300 },
    );
  });

  test('a full log drops lines at its end when earlier lines are inserted, and reports it', () => {
    const line = `${'z'.repeat(99)}\n`;
    const log = new OpenLog('cmd_1', { from: 10_000_000, mode: 'tail' });
    for (let count = 0; count < 64; count += 1) log.append(encode(line.repeat(10_000)), 0, false);
    const before = log.state();
    const bytes = encode(line.repeat(100_000));
    expect(log.prepend([{ bytes, ms: 0, isStderr: true }], 0)).toBe(true);
    const after = log.state();
    expect(after).toMatchObject({ firstCursor: 0, isWhole: false, shift: 100_000, bytes: before.end });
    expect(after.end).toBeLessThan(before.end);
    expect(after.end).toBeGreaterThan(60_000_000);
    expect(log.rows(after.firstLine, 1)).toMatchObject([{ number: 1, fromStderr: true }]);
    expect(log.rows(after.lines - 1, 1)).toMatchObject([{ number: after.count }]);
    log.append(encode(line.repeat(100_000)), 0, false);
    expect(log.state().shift).toBeLessThan(100_000);
  });

  test('wrapped rows are counted in cells', () => {
    const log = new OpenLog('cmd_1', { from: 0, mode: 'all' });
    log.store.append(encode(`short\n${'w'.repeat(25)}\n漢字漢字漢字\n`), 0, false);
    log.wrap(10);
    expect(log.visual).toBe(1 + 3 + 2);
    expect([0, 1, 3, 4, 5].map((row) => log.lineAtVisual(row))).toEqual([0, 1, 1, 2, 2]);
    expect(log.visualOf(2)).toBe(4);
  });
});

describe('a search', () => {
  const logOf = (text: string) => {
    const log = new OpenLog('cmd_1', { from: 0, mode: 'all' });
    log.store.append(encode(text), 0, false);
    log.isEnded = true;
    return log;
  };
  const finish = (log: OpenLog) => {
    while (log.work()) {}
    return log.state();
  };

  test('counts every match, with colours and carriage returns in between', () => {
    const log = logOf('VAT vat\nv\u001b[31mat\u001b[0m\nold vat\rnew\nno\nlast vat');
    log.find('vat');
    expect(finish(log)).toMatchObject({ found: 4, isSearched: true, marks: [0, 0, 1, 4] });
    expect(log.rows(1, 1)[0]?.marks).toEqual([[0, 3]]);
    expect(log.lineOfMatch(3)).toBe(4);
    log.find('/v.t$/');
    expect(finish(log)).toMatchObject({ found: 3 });
    log.find('/(/');
    expect(finish(log)).toMatchObject({ found: 0, queryError: 'A ( has no ).' });
  });

  test('finds lines with errors', () => {
    const log = logOf('fine\nerror: no\nTypeError: x\n2 failed\n');
    expect(finish(log)).toMatchObject({ errors: 3, errorMarks: [1, 2, 3] });
  });

  test('of a million lines finds the last in less than a second of the processor', () => {
    const log = logOf(`${'one line of usual length\n'.repeat(1_000_000)}the needle\n`);
    const took = [1, 2, 3, 4, 5].map(() => {
      log.find('needle');
      const tookMs = cpuMsOf(() => {
        while (!log.state().isSearched) log.work();
      });
      expect(log.state()).toMatchObject({ lines: 1_000_001, found: 1, marks: [1_000_000] });
      return tookMs;
    });
    expect(took.sort((a, b) => a - b)[2]).toBeLessThan(1_000);
  });
});

describe('a pattern', () => {
  test.each([
    ['a+b', 'xaab', 1, 3],
    ['(one|two)s?', 'about twos', 6, 4],
    ['^x', 'x', 0, 1],
    ['[a-c]{2,3}$', 'xabc', 1, 3],
    ['\\d+\\.\\d', 'v1.22', 1, 3],
    ['É', 'caf\u00e9', 3, 1],
    ['a.c', 'ABC', 0, 3],
    ['[^x]y', 'xyay', 2, 2],
  ])('%s in %s', (source, line, at, length) => {
    expect(compilePattern(source).find(line, 0)).toEqual({ at, length });
  });

  test.each(['(a+)+$', '(a|a)*b', '(.*)*x', 'a{500}{500}', '(a?){60}a{60}'])(
    '%s cannot stop the page',
    (source) => {
      const before = performance.now();
      try {
        const pattern = compilePattern(source);
        pattern.matches('a'.repeat(60_000));
        pattern.find('a'.repeat(2_000), 0);
      } catch (error) {
        expect((error as Error).message).toMatch(/too long/);
      }
      expect(performance.now() - before).toBeLessThan(5_000);
    },
  );

  test('matches like RegExp in the syntax that both support', () => {
    const part = fc.constantFrom('a', 'b', '.', '[ab]', '[^a]', '\\d', '(ab|b)', 'x?', 'a*', '(?:ba)+');
    fc.assert(
      fc.property(
        fc.array(part, { minLength: 1, maxLength: 5 }),
        fc.string({ maxLength: 12, unit: fc.constantFrom('a', 'b', 'x', '1', 'A') }),
        (parts, line) => {
          const source = parts.join('');
          expect(compilePattern(source).matches(line)).toBe(new RegExp(source, 'i').test(line));
        },
      ),
      { numRuns: 500 },
    );
  });

  test.each(['(?=a)', '\\1', '*a', '[a', 'a{3,1}', '\\'])('%s is refused with a sentence', (source) => {
    expect(() => compilePattern(source)).toThrow(/\.$/);
  });
});

describe('hostile text', () => {
  test.each([
    ['\u001b]8;;https://evil.example\u0007click\u001b]8;;\u0007', 'click'],
    ['\u001b]0;title\u0007a\u001b]52;c;aGk=\u0007b', 'ab'],
    ['\u001b[2J\u001b[1;1Ha\u001b[999Cb', 'ab'],
    ['a\u202eb\u2066c\u200bd', 'a[U+202E]b[U+2066]c[U+200B]d'],
    ['a\u3164b\u206ac\u034f\u{e0101}', 'a[U+3164]b[U+206A]c[U+034F][U+E0101]'],
    ['a\u0000b\u0007c\u0085d', 'a\u2400b\u2407c[U+0085]d'],
    ['10 %\r20 %\rdone\r', 'done'],
    ['\u001bP1$r0m\u001b\\a\u001b_x\u001b\\b', 'ab'],
    ['\u001b]0;never ends', ''],
  ])('%j is shown as %j', (line, shown) => {
    expect(toShownText(line)).toBe(shown);
  });

  test('marks that are piled on a letter are counted, beyond the four that a script needs', () => {
    expect(showOdd(`n\u0323o\u0308 e${'\u0310'.repeat(60)}!`)).toBe(
      `n\u0323o\u0308 e${'\u0310'.repeat(4)}[56 marks]!`,
    );
  });

  test('only http addresses become links', () => {
    const { pieces } = showLine('see https://a.example/x). javascript:alert(1) data:text/html,x', 0);
    expect(pieces.flatMap(({ link }) => link ?? [])).toEqual(['https://a.example/x']);
    expect(countCells('a\t漢')).toBe(10);
  });
});
