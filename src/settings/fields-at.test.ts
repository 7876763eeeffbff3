import { expect, it } from 'vitest';
import { z } from 'zod';
import { fieldsAt } from './fields-at.ts';

const schema = z.strictObject({
  name: z.string(),
  steps: z
    .array(
      z.strictObject({
        id: z.string(),
        when: z.union([z.enum(['always']), z.strictObject({ step: z.string() })]),
      }),
    )
    .default([]),
  sources: z.record(z.string(), z.strictObject({ stream: z.string() })).optional(),
});

it('lists the fields of the object at a path', () => {
  expect(fieldsAt(schema, [])).toEqual(['name', 'steps', 'sources']);
  expect(fieldsAt(schema, ['steps', 3])).toEqual(['id', 'when']);
  expect(fieldsAt(schema, ['steps', 0, 'when'])).toEqual(['step']);
  expect(fieldsAt(schema, ['sources', 'A'])).toEqual(['stream']);
});

it('lists none where there is no object', () => {
  for (const path of [['name'], ['nothing'], ['steps'], ['name', 'x']])
    expect(fieldsAt(schema, path)).toEqual([]);
});
