import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { NacreError } from '../../contract/failure.ts';
import { fromModel, receive } from './define-tool.ts';

const input = z.strictObject({
  text: z.string().max(3, 'text must be at most 3 characters'),
  count_ms: z.int().min(1).max(9).default(5),
  mode: z.enum(['fast', 'slow']).optional(),
  ratio: z.number().optional(),
  loud: z.boolean().optional(),
  tags: z.array(z.string()).optional(),
  env: z.record(z.string().regex(/^[A-Z]+$/, 'a name has capital letters'), z.string()).optional(),
  code: z.string().regex(/^x/).optional(),
  name: z.string().min(1).max(5).optional(),
});

function failure(raw: unknown): NacreError {
  try {
    receive('the_tool', input, raw);
  } catch (error) {
    if (error instanceof NacreError) return error;
  }
  throw new Error('The input was accepted.');
}

const problemsOf = (raw: unknown) => failure(raw).details.problems;

describe('receive', () => {
  it('returns valid input with its defaults filled in', () => {
    expect(receive('the_tool', input, { text: 'abc' })).toEqual({ text: 'abc', count_ms: 5 });
  });

  it('names an empty name of a variable', () => {
    expect(problemsOf({ text: 'abc', env: { '': 'x' } })).toEqual(['env."": a name has capital letters']);
  });

  it('E6: names the tool, the field and the next step in one error', () => {
    const error = failure({ text: 'abc', count_ms: 0 });
    expect(error.code).toBe('invalid_request');
    expect(error.message).toBe('Invalid input for the_tool: count_ms must be at least 1, not 0.');
    expect(error.hint).toMatch(/call the_tool again; nothing was run/);
  });

  it.each<[unknown, string]>([
    [{}, 'text is required'],
    [undefined, 'text is required'],
    [null, 'text is required'],
    [[], 'the input must be an object, not a list'],
    ['abc', 'the input must be an object, not "abc"'],
    [{ text: null }, 'text must be a string, not null'],
    [{ text: 'a', env: { A: null } }, 'env.A must be a string, not null'],
    [{ text: 'a', zzzzzzzzzz: null }, 'there is no field "zzzzzzzzzz"'],
    [{ text: {} }, 'text must be a string, not an object'],
    [{ text: 'abcd' }, 'text must be at most 3 characters'],
    [{ text: 'a', name: '' }, 'name must not be empty'],
    [{ text: 'a', name: 'abcdef' }, 'name must have at most 5 characters'],
    [{ text: 'a', count_ms: 10 }, 'count_ms must be at most 9, not 10'],
    [{ text: 'a', count_ms: 1.5 }, 'count_ms must be a whole number, not 1.5'],
    [{ text: 'a', count_ms: '5' }, 'count_ms must be a number, not "5"'],
    [{ text: 'a', mode: 'x' }, 'mode must be fast or slow, not "x"'],
    [{ text: 'a', ratio: 'x' }, 'ratio must be a number, not "x"'],
    [{ text: 'a', loud: 'x' }, 'loud must be true or false, not "x"'],
    [{ text: 'a', tags: 'x' }, 'tags must be a list, not "x"'],
    [{ text: 'a', tags: ['x', 5] }, 'tags.1 must be a string, not 5'],
    [{ text: 'a', env: [] }, 'env must be an object, not a list'],
    [{ text: 'a', env: { A: 1 } }, 'env.A must be a string, not 1'],
    [{ text: 'a', env: { a: 'x' } }, 'env.a: a name has capital letters'],
    [{ text: 'a', txt: 'b' }, 'there is no field "txt" (Did you mean text?)'],
    [{ text: 'a', count: 1 }, 'there is no field "count" (Did you mean count_ms?)'],
    [{ text: 'a', zzzzzzzzzz: 1 }, 'there is no field "zzzzzzzzzz"'],
  ])('%j: %s', (raw, expected) => {
    expect(problemsOf(raw)).toEqual([expected]);
  });

  it('lists every problem in one error', () => {
    expect(problemsOf({ count_ms: 0, x1: 1, y1: 2 })).toEqual([
      'text is required',
      'count_ms must be at least 1, not 0',
      'there is no field "x1"',
      'there is no field "y1"',
    ]);
  });

  it('uses the message of the schema for other issues', () => {
    expect(problemsOf({ text: 'a', code: 'y' })).toEqual([expect.stringMatching(/^code: Invalid string/)]);
  });

  it('shortens long values, and replaces invalid Unicode', () => {
    const [unknown] = problemsOf({ text: 'a', ['k'.repeat(5_000)]: 1 }) as string[];
    expect(unknown?.length).toBeLessThan(80);
    const [value] = problemsOf({ text: 'a', mode: `${'v'.repeat(39)}😀` }) as string[];
    expect(value?.length).toBeLessThan(90);
    const [name] = problemsOf({ text: 'a', env: { '\ud800': 'x' } }) as string[];
    for (const text of [unknown, value, name]) expect(text?.isWellFormed()).toBe(true);
  });
});

const schema = {
  type: 'object',
  properties: {
    text: { type: 'string' },
    count: { type: 'integer' },
    maybe: { type: ['string', 'null'] },
    either: { anyOf: [{ type: 'string' }, { type: 'null' }] },
    choice: { enum: ['a', null] },
    env: { type: 'object', additionalProperties: { type: 'string' } },
    place: { type: 'object', properties: {}, additionalProperties: false },
  },
  required: ['text'],
} as const;

describe('fromModel', () => {
  it('B15: treats null as an omitted field', () => {
    expect(fromModel(schema, { text: 'a', count: null, env: null })).toEqual({ text: 'a' });
  });

  it('preserves null in a field that is required, nullable or unknown', () => {
    const input = { text: null, maybe: null, either: null, choice: null, other: null, toString: null };
    expect(fromModel(schema, input)).toEqual(input);
    expect(fromModel({ type: 'object' }, { x: null })).toEqual({ x: null });
  });

  it('B15: converts a list of names and values into a map', () => {
    const pairs = [
      { name: 'A', value: '1' },
      { name: '__proto__', value: '2' },
    ];
    const { env } = fromModel(schema, { env: pairs }) as { env: object };
    expect(Object.entries(env)).toEqual([
      ['A', '1'],
      ['__proto__', '2'],
    ]);
    expect(fromModel(schema, { env: { A: '1' } })).toEqual({ env: { A: '1' } });
    expect(fromModel(schema, { env: [] })).toEqual({ env: {} });
  });

  it('leaves other lists unchanged, so that receive reports them', () => {
    for (const list of [[1], [null], [{ value: 1 }], [{ name: 1, value: 1 }]])
      expect(fromModel(schema, { env: list, place: list })).toEqual({ env: list, place: list });
  });

  it('parses JSON text, and returns other values unchanged', () => {
    expect(fromModel(schema, '{"text":"a","count":null}')).toEqual({ text: 'a' });
    for (const raw of ['{half', 5, null, undefined, [1]]) expect(fromModel(schema, raw)).toEqual(raw);
  });
});
