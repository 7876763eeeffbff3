import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { cpuMsOf } from '../../tests/support/cpu-time.ts';
import { soakCount } from '../../tests/support/soak.ts';
import { toYamlReply, type YamlValue } from './yaml-reply.ts';

const versions = ['1.1', '1.2'] as const;
const readBack = (entries: Record<string, YamlValue>) => {
  const text = toYamlReply(entries);
  return versions.map((version) => parse(text, { version, strict: true }));
};

describe('the reply as YAML', () => {
  test('T2: keys are in the given order and output is a block literal', () => {
    expect(
      toYamlReply({ exit_code: 0, stdout: 'one\ntwo\n', stderr: '', truncated: undefined, signal: null }),
    ).toBe('exit_code: 0\nstdout: |\n  one\n  two\nstderr: ""\nsignal: null\n');
  });

  test('lists and maps have one line per item, with quoted strings', () => {
    const entries = {
      withheld: ['A', 'yes'],
      left_running: [{ pid: 12, command: 'sleep 5', since: undefined }],
      nested: { n: [1, [true, null]], 'a key': { deep: 'x' } },
      nothing: [],
      none: {},
    };
    expect(toYamlReply(entries)).toBe(
      [
        'withheld:\n  - "A"\n  - "yes"',
        'left_running:\n  - {pid: 12, command: "sleep 5"}',
        'nested:\n  "n": [1, [true, null]]\n  "a key": {deep: "x"}',
        'nothing: []',
        'none: {}\n',
      ].join('\n'),
    );
  });

  test('no entries make an empty map', () => {
    expect(toYamlReply({ a: undefined })).toBe('{}\n');
  });

  test.each([
    'yes',
    'no\n',
    '12:30:45',
    '1_000\n1_000\n',
    '0o17',
    '~',
    'null\n',
    '',
    ' ',
    '\n',
    '\n\n\n',
    ' \n',
    '\n ',
    ' \n \n',
    '  leading\nspaces\n',
    '\n  late leading',
    '\tleading tab\n',
    'trailing spaces  \nand more  ',
    'last line of blanks\n   ',
    'last line of blanks\n   \n\n',
    'blank line of tabs\n\t\nend\n',
    'two ends\n\n',
    'no end\nat all',
    '---\n...\n---\n',
    '# comment\n# another\n',
    '%YAML 1.1\n%TAG\n',
    'key: value\n- item\n? what\n',
    '"quotes" and \\ backslash\n',
    '&anchor *alias !tag\n',
    `${'long line '.repeat(500)}\n`,
    'long words '.repeat(500),
    'next\u0085line\n',
    'line\u2028separator\u2029\n',
    '\ufeffmark\n',
    'inside\ufeff\n',
    'control \x00\x01\x1b\x7f\x9b\n',
    'return\r\nend\r',
    'astral 😀\n𝒳\n',
    'edge \ufffd\ufffe\uffff\ud7ff\ue000\n',
    'no-break\u00a0space\n',
  ])('T2: readers of YAML 1.1 and 1.2 get the same text back: %j', (text) => {
    expect(readBack({ stdout: text, after: 1 })).toEqual(versions.map(() => ({ stdout: text, after: 1 })));
    expect(readBack({ list: [text], last: text })).toEqual(
      versions.map(() => ({ list: [text], last: text })),
    );
  });

  test('T2: any text without lone surrogates survives a round trip', () => {
    const blanks = fc.string({
      unit: fc.constantFrom(' ', '\n', '\t', 'a', '-', '#', ':', '\r', '\u0085', '\u2028', '漢'),
    });
    const text = fc.oneof(blanks, fc.string({ unit: 'binary' }), fc.string({ unit: 'grapheme' }));
    fc.assert(
      fc.property(text, text, (one, two) => {
        const entries = { stdout: one, stderr: two, pair: [one, { inner: two }], exit_code: 1 };
        expect(readBack(entries)).toEqual(versions.map(() => entries));
        expect(parseAllDocuments(toYamlReply(entries))).toHaveLength(1);
      }),
      { numRuns: soakCount(1_000, 250) },
    );
  });

  test('long runs of blanks and line ends take no more time than other text', () => {
    for (const run of ['\n', ' ', '\t', ' \n', '\n '])
      expect(cpuMsOf(() => toYamlReply({ stdout: `x${run.repeat(200_000)}x\n` }))).toBeLessThan(1_000);
  });

  test('lone surrogates are replaced before writing', () => {
    expect(readBack({ stdout: 'a\ud800b\n' })).toEqual(versions.map(() => ({ stdout: 'a\ufffdb\n' })));
  });

  test('no string is ever plain or folded', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(toYamlReply({ out: text })).toMatch(/^out: ("|\|2?[-+]?\n)/);
      }),
    );
  });

  test('numbers keep their value in YAML 1.1 and 1.2, and NaN and Infinity become null', () => {
    const numbers = [0, -1, 143, 1.5, 1e21, -2.5e-9, Number.MAX_SAFE_INTEGER];
    expect(readBack({ numbers })).toEqual(versions.map(() => ({ numbers })));
    expect(toYamlReply({ n1: Number.NaN, n2: Number.POSITIVE_INFINITY })).toBe('n1: null\nn2: null\n');
  });

  test('keys that a parser could read as another type are quoted', () => {
    expect(toYamlReply({ y: 1, On: 2, 'a b': 3, exit_code: 4 })).toBe(
      '"y": 1\n"On": 2\n"a b": 3\nexit_code: 4\n',
    );
  });
});
