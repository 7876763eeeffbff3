import { expect, it } from 'vitest';
import { DefaultJsonSchemaValidator, process as shimmed } from './sdk-shims.ts';

it('replaces the validator and the process module of the SDK', () => {
  const validate = new DefaultJsonSchemaValidator().getValidator();
  expect(validate({ a: 1 })).toEqual({ valid: true, data: { a: 1 }, errorMessage: undefined });
  expect(shimmed).toBe(process);
});
