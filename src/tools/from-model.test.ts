import { describe, expect, it } from 'vitest';
import { fromModel } from './from-model.ts';

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

describe('what a model writes', () => {
  it('B15: may be null for a field that is left out', () => {
    expect(fromModel(schema, { text: 'a', count: null, env: null })).toEqual({ text: 'a' });
  });

  it('keeps null where the field is required, takes null or is not known', () => {
    const input = { text: null, maybe: null, either: null, choice: null, other: null, toString: null };
    expect(fromModel(schema, input)).toEqual(input);
    expect(fromModel({ type: 'object' }, { x: null })).toEqual({ x: null });
  });

  it('B15: may be a list of names and values for an object with free keys', () => {
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

  it('leaves other lists to the tool, which says what is wrong with them', () => {
    for (const list of [[1], [null], [{ value: 1 }], [{ name: 1, value: 1 }]])
      expect(fromModel(schema, { env: list, place: list })).toEqual({ env: list, place: list });
  });

  it('may be JSON text, and whatever is no object stays as it is', () => {
    expect(fromModel(schema, '{"text":"a","count":null}')).toEqual({ text: 'a' });
    for (const raw of ['{half', 5, null, undefined, [1]]) expect(fromModel(schema, raw)).toEqual(raw);
  });
});
