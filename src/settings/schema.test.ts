import { describe, expect, it } from 'vitest';
import type { Schema } from './schema.ts';
import { s } from './schema.ts';

const issuesOf = (schema: Schema, value: unknown) => {
  const parsed = schema.safeParse(value);
  return parsed.success ? [] : parsed.issues.map(({ path, message }) => [path.join('.'), message]);
};

describe('a schema', () => {
  it.each([
    [s.int().min(1).max(9), 9],
    [s.boolean(), false],
    [s.choice(['on', 'off']), 'off'],
    [s.text().min(1), 'x'],
    [s.list(s.text()).max(2), ['a', 'b']],
    [s.object({ name: s.text(), size: s.int().optional() }), { name: 'x' }],
  ] as const)('accepts a value of its kind (%#)', (schema: Schema, value: unknown) => {
    expect(schema.safeParse(value)).toEqual({ success: true, data: value });
  });

  it.each([
    [s.int().min(1).max(9), 10, [['', 'must be from 1 to 9']]],
    [s.int().min(1).max(9), 1.5, [['', 'must be a whole number, not 1.5']]],
    [s.int(), 2 ** 60, [['', `must be a whole number, not ${2 ** 60}`]]],
    [s.boolean(), 'yes', [['', 'must be true or false, not text']]],
    [s.choice(['on', 'off']), 'maybe', [['', 'must be on or off']]],
    [s.text().min(1), '', [['', 'must not be empty']]],
    [s.text().max(2), 'abc', [['', 'must have at most 2 characters']]],
    [s.text().regex(/^a$/, 'must be a'), 'b', [['', 'must be a']]],
    [s.text(), null, [['', 'must be text, not null']]],
    [s.list(s.text()), 'a,b', [['', 'must be a list, not text']]],
    [s.list(s.text()).min(1), [], [['', 'must have at least 1 entry']]],
    [s.list(s.int().min(0).max(1)), [0, 2], [['1', 'must be from 0 to 1']]],
    [s.object({ name: s.text() }), [], [['', 'must be an object, not a list']]],
  ] as const)('names what is wrong with a value (%#)', (schema: Schema, value: unknown, issues) => {
    expect(issuesOf(schema, value)).toEqual(issues);
  });

  it('finds every issue of an object, also an unknown or inherited name', () => {
    const schema = s.object({ name: s.text(), size: s.int().min(1).max(2) });
    expect(issuesOf(schema, { size: 3, constructor: 1 })).toEqual([
      ['name', 'is missing'],
      ['size', 'must be from 1 to 2'],
      ['', 'has no field constructor'],
    ]);
    expect(issuesOf(schema, JSON.parse('{"name":"a","size":1,"__proto__":1}'))).toEqual([
      ['', 'has no field __proto__'],
    ]);
  });

  it('turns a number into text where a file may have one', () => {
    const ports = s.list(s.text().regex(/^\d+$/).orNumber(1, 9));
    expect(ports.safeParse([3, '4'])).toEqual({ success: true, data: ['3', '4'] });
    expect(issuesOf(ports, [10])).toEqual([['0', 'must be from 1 to 9']]);
  });

  it('returns a copy of a default', () => {
    const schema = s.list(s.text()).default(['a']);
    schema.whenUnset()?.push('b');
    expect(schema.safeParse(undefined)).toEqual({ success: true, data: ['a'] });
  });
});
