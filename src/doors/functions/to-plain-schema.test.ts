import { describe, expect, it } from 'vitest';
import { toOpenApiSchema } from './to-openapi-schema.ts';
import { toPlainSchema } from './to-plain-schema.ts';

const object = (properties: object, required: readonly string[] = []) => ({
  type: 'object',
  properties,
  required,
});

describe('toPlainSchema', () => {
  it('closes every object and requires every field, with null for optional ones', () => {
    const inner = object({ a: { type: 'string' } });
    const plain = toPlainSchema(
      object({ inner, list: { type: 'array', items: inner } }, ['inner']),
      'nullable',
    );
    const closed = {
      type: 'object',
      properties: { a: { type: ['string', 'null'] } },
      required: ['a'],
      additionalProperties: false,
    };
    expect(plain).toEqual({
      type: 'object',
      properties: { inner: closed, list: { type: ['array', 'null'], items: closed } },
      required: ['inner', 'list'],
      additionalProperties: false,
    });
  });

  it('omits optional fields from required if the vendor allows that', () => {
    const schema = object({ a: { type: 'string' }, b: { type: 'string' } }, ['b']);
    expect(toPlainSchema(schema, 'omitted')).toMatchObject({ required: ['b'], additionalProperties: false });
  });

  it.each([
    [{ type: 'integer', minimum: 1, maximum: 9, default: 5 }, '(1 to 9, default 5)'],
    [{ type: 'integer', minimum: 1, description: 'How many' }, 'How many (at least 1)'],
    [{ type: 'integer', maximum: 9 }, '(at most 9)'],
    [{ type: 'string', default: 'x', minLength: 1, pattern: 'x' }, '(default "x")'],
  ])('puts bounds and defaults into the description: %j', ({ type, ...rest }, description) => {
    expect(toPlainSchema({ type, ...rest }, 'nullable')).toEqual({ type, description });
  });

  it('adds null to enums, unions and types, unless they have it', () => {
    const schema = object({
      choice: { type: 'string', enum: ['a'] },
      both: { anyOf: [{ type: 'string' }, { type: 'integer', minimum: 1 }] },
      maybe: { type: ['string', 'null'], enum: ['a', null] },
      only: { const: 'x' },
    });
    expect(toPlainSchema(schema, 'nullable').properties).toEqual({
      choice: { type: ['string', 'null'], enum: ['a', null] },
      both: {
        anyOf: [{ type: 'string' }, { type: 'integer', description: '(at least 1)' }, { type: 'null' }],
      },
      maybe: { type: ['string', 'null'], enum: ['a', null] },
      only: { type: ['string', 'null'], enum: ['x', null] },
    });
  });

  it('converts a map into a list of names and values', () => {
    const map = { type: 'object', additionalProperties: { type: 'integer' } };
    const items = {
      type: 'object',
      properties: { name: { type: 'string' }, value: { type: 'integer' } },
      required: ['name', 'value'],
      additionalProperties: false,
    };
    expect(toPlainSchema(map, 'nullable')).toEqual({ type: 'array', description: 'Names and values', items });
    expect(toPlainSchema({ ...map, description: 'Ages' }, 'nullable')).toMatchObject({
      description: 'Ages, as names and values',
    });
  });

  it.each([{ $ref: '#' }, { allOf: [] }, {}, { type: 'array' }])('throws for %j', (schema) => {
    expect(() => toPlainSchema(object({ x: schema }), 'nullable')).toThrow(/has no strict form/);
  });
});

describe('toOpenApiSchema', () => {
  it('has one upper-case type, and nullable in place of null', () => {
    expect(toOpenApiSchema({ type: ['string', 'null'] })).toEqual({ type: 'STRING', nullable: true });
    expect(toOpenApiSchema({ type: ['string', 'integer', 'null'] })).toEqual({
      anyOf: [{ type: 'STRING' }, { type: 'INTEGER' }],
      nullable: true,
    });
    expect(toOpenApiSchema({ type: 'null' })).toEqual({ nullable: true });
    expect(toOpenApiSchema({ anyOf: [{ type: 'string' }] })).toEqual({ anyOf: [{ type: 'STRING' }] });
  });

  it('has only string enums', () => {
    expect(toOpenApiSchema({ type: ['string', 'null'], enum: ['a', null] })).toEqual({
      type: 'STRING',
      nullable: true,
      format: 'enum',
      enum: ['a'],
    });
    expect(toOpenApiSchema({ type: 'integer', enum: [1, 2] })).toEqual({ type: 'INTEGER' });
  });
});
