import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { getJson, removeJson, setJson } from './edit-json.ts';
import { readJsonTree } from './json-tree.ts';

const path = ['mcpServers', 'nacre'];
const entry = { command: 'node', args: ['a b'] };

describe('setJson', () => {
  it('adds a member after the last one, in the indentation of the file', () => {
    const text = '{\n    "mcpServers": {\n        "other": { "url": "x" }\n    }\n}\n';
    expect(setJson(text, path, entry)).toBe(
      '{\n    "mcpServers": {\n        "other": { "url": "x" },\n        "nacre": {\n            "command": "node",\n' +
        '            "args": [\n                "a b"\n            ]\n        }\n    }\n}\n',
    );
  });

  it.each([
    ['tabs', '{\n\t"a": 1\n}', '{\n\t"a": 1,\n\t"b": {\n\t\t"c": 2\n\t}\n}'],
    ['CRLF', '{\r\n  "a": 1\r\n}\r\n', '{\r\n  "a": 1,\r\n  "b": {\r\n    "c": 2\r\n  }\r\n}\r\n'],
    ['one line', '{"a":1}', '{"a":1, "b": {"c":2}}'],
    ['an empty object', '{}', '{\n  "b": {\n    "c": 2\n  }\n}'],
    ['nothing', '', '{\n  "b": {\n    "c": 2\n  }\n}\n'],
    ['blanks', '\r\n', '\r\n{\r\n  "b": {\r\n    "c": 2\r\n  }\r\n}\r\n'],
    ['only a comment', '// mine', '// mine\n{\n  "b": {\n    "c": 2\n  }\n}\n'],
    ['a comment inside', '{\n  // none yet\n}', '{\n  // none yet\n  "b": {\n    "c": 2\n  }\n}'],
    ['a comma at the end', '{\n  "a": 1,\n}', '{\n  "a": 1,\n  "b": {\n    "c": 2\n  },\n}'],
    [
      'comments around',
      '{\n  "a": 1 // one\n  // "z": 2\n}',
      '{\n  "a": 1, // one\n  "b": {\n    "c": 2\n  }\n  // "z": 2\n}',
    ],
    [
      'a block comment after a comma',
      '{\n  "a": 1, /* one */ // more\n}',
      '{\n  "a": 1, /* one */ // more\n  "b": {\n    "c": 2\n  },\n}',
    ],
    ['a member on the line of the brace', '{ "a": 1 // one\n}', '{ "a": 1, "b": {"c":2} // one\n}'],
    [
      'a comment of several lines',
      '{\n  "a": 1 /* x\n  y */\n}',
      '{\n  "a": 1,\n  "b": {\n    "c": 2\n  } /* x\n  y */\n}',
    ],
  ])('keeps every other byte of a file with %s', (_, text, expected) => {
    expect(setJson(text, ['b', 'c'], 2)).toBe(expected);
  });

  it('replaces a value in place, and keeps the formatting of an equal one', () => {
    const text = '{ "b": { "c" : [1,\n2] /* keep */ } }';
    expect(setJson(text, ['b', 'c'], [1, 2])).toBe(text);
    expect(setJson(text, ['b', 'c'], 3)).toBe('{ "b": { "c" : 3 /* keep */ } }');
  });

  it.each([
    ['{"a": [}', 'expected a value'],
    ['{"a": 1 "b": 2}', 'expected a comma or }'],
    ['{"a": [1 2]}', 'expected a comma or ]'],
    ['{a: 1}', 'expected a key in double quotes'],
    ['{"a" 1}', 'expected a colon after the key'],
    ['{"a": 01}', 'this is not a JSON value'],
    ['{"a": "\\x"}', 'this is not a JSON value'],
    ['{"a": "', 'expected a value'],
    ['{} {}', 'there is more text after the end of the value'],
    ['{ /* open', 'expected a key in double quotes'],
    ['[]', 'the file is not an object'],
    ['{"b": null}', 'b is not an object'],
    ['{"b": {}, "b": {}}', 'the key b occurs twice'],
    [`${'['.repeat(100_000)}`, 'it is nested too deeply'],
  ])('refuses %s', (text, reason) => {
    expect(() => setJson(text, ['b', 'c'], 2)).toThrow(reason);
  });

  it('reads long strings and keys of any name', () => {
    const long = 'x"\\'.repeat(1_000_000);
    const text = JSON.stringify({ ['__proto__']: { polluted: true }, long });
    expect(getJson(setJson(text, ['b'], 1), ['long'])).toBe(long);
    expect(Object.keys(getJson(text, []) as object)).toContain('__proto__');
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });
});

describe('removeJson', () => {
  it('names a value that is not an object', () => {
    expect(() => removeJson('{"a": []}', ['a', 'b'])).toThrow('a is not an object');
  });

  it.each([
    ['{\n  "a": 1,\n  "nacre": {}\n}\n', '{\n  "a": 1\n}\n'],
    ['{\n  "nacre": {},\n  "a": 1\n}\n', '{\n  "a": 1\n}\n'],
    ['{\r\n  "a": 1,\r\n  "nacre": {},\r\n}\r\n', '{\r\n  "a": 1,\r\n}\r\n'],
    ['{\n  "nacre": {}\n}', '{\n}'],
    ['{"nacre": 1}', '{}'],
    ['{"a": 1, "nacre": 1, "b": 2}', '{"a": 1, "b": 2}'],
    ['{\n  // about a\n  "nacre": 1, "a": 1\n}', '{\n  // about a\n  "a": 1\n}'],
    ['{\n  "a": 1, // one\n  "nacre": 1 // ours\n}', '{\n  "a": 1 // one\n  // ours\n}'],
    ['{\n  "a": 1,\n  "nacre": 1 // ours\n  ,\n  "b": 2\n}', '{\n  "a": 1,\n   // ours\n  \n  "b": 2\n}'],
    ['{\n  // last\n  "nacre": 1}', '{\n  // last\n  }'],
    ['', ''],
  ])('from %j leaves %j', (text, expected) => {
    const left = removeJson(text, ['nacre']);
    expect(left).toBe(expected);
    expect(() => readJsonTree(left)).not.toThrow();
  });

  it('changes nothing if there is nothing to remove', () => {
    const text = '{"a": {"b": 1}}';
    for (const where of [['c'], ['a', 'c'], ['c', 'd'], []]) expect(removeJson(text, where)).toBe(text);
  });
});

describe('a file of unusual size', () => {
  it.each([
    ['blanks', `{"a":1${' '.repeat(300_000)},"nacre":1}`],
    ['line breaks', `{"a":1,${'\n'.repeat(300_000)}"nacre":1}`],
    ['comments', `{"a":1${'/**/'.repeat(100_000)},"nacre":1}`],
  ])('is edited without delay: %s', (_, text) => {
    const removed = removeJson(text, ['nacre']);
    expect(getJson(removed, [])).toEqual({ a: 1 });
    expect(getJson(setJson(removed, ['nacre'], 2), [])).toEqual({ a: 1, nacre: 2 });
  });
});

describe('in any file', () => {
  const blank = fc.constantFrom('', ' ', '\n', '\t', '\r\n', ' // c\n', '/* } */', '\n  // "nacre": 1,\n  ');
  const scalar = fc.oneof(
    fc.string().map((text) => JSON.stringify(text)),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => JSON.stringify(number)),
    fc.constantFrom('true', 'null'),
  );
  const { object } = fc.letrec<{ object: string; value: string }>((tie) => ({
    value: fc.oneof({ depthSize: 'small' }, scalar, tie('object')),
    object: fc
      .tuple(
        fc.uniqueArray(fc.tuple(fc.string(), blank, blank, tie('value'), blank), {
          selector: ([key]) => key,
          maxLength: 4,
        }),
        blank,
        fc.boolean(),
      )
      .map(([members, inside, comma]) => {
        const parts = members.map(([key, a, b, value, c]) => `${a}${JSON.stringify(key)}${b}:${value}${c}`);
        return `{${parts.join(',')}${comma && parts.length > 0 ? ',' : ''}${inside}}`;
      }),
  }));
  const file = fc.tuple(blank, object, blank).map((parts) => parts.join(''));

  it('an entry that was set can be read and removed again, and the rest is unchanged', () => {
    fc.assert(
      fc.property(file, fc.constantFrom(['nacre'], ['servers', 'nacre']), (text, where) => {
        const before = getJson(text, []) as Record<string, unknown>;
        fc.pre(where[0] !== undefined && !Object.hasOwn(before, where[0]));
        const set = setJson(text, where, entry);
        expect(getJson(set, where)).toEqual(entry);
        const { [where[0] as string]: _ours, ...rest } = getJson(set, []) as Record<string, unknown>;
        expect(rest).toEqual(before);
        expect(setJson(set, where, entry)).toBe(set);
        expect(getJson(removeJson(set, where.slice(0, 1)), [])).toEqual(before);
      }),
      { numRuns: 500 },
    );
  });
});
