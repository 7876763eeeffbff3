import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { allSettings } from '../rules/all-settings.ts';
import { listSettings } from './define.ts';
import { toJsonSchema } from './to-json-schema.ts';

const schema = toJsonSchema(allSettings);
const validate = new Ajv2020({ strict: true, allowUnionTypes: true }).compile(schema);

describe('the JSON Schema of a settings file', () => {
  it('follows JSON Schema 2020-12 and has every setting under its file key', () => {
    expect(schema.$schema).toBe('https://json-schema.org/draft/2020-12/schema');
    expect(Object.keys(schema.properties ?? {})).toEqual(listSettings(allSettings).map(({ key }) => key));
  });

  it('says nothing about variables, flags and project files', () => {
    const words = Object.values(schema.properties ?? {}).flatMap((one) => Object.keys(one));
    expect(words.join(' ')).not.toMatch(/\b(env|flag|project|everything|path|accepts|unset)\b/);
  });

  it.each([
    {},
    { ring_bytes: 4096 },
    { ring_bytes: '64KiB', drain_ms: '1s', tombstone_seconds: '1h' },
    { allowed_commands: ['git', 'ls'], danger: 'off' },
    { allowed_commands: '*', tools: 'terminal' },
  ])('accepts %j', (file) => {
    expect(validate(file)).toBe(true);
  });

  it.each([
    { ring_bytes: 1 },
    { ring_bytes: '64 cows' },
    { max_running: '5s' },
    { ringBytes: 4096 },
    { danger: 'perhaps' },
    { allowed_commands: [1] },
    { tools: [] },
    { tools: ['none'] },
  ])('refuses %j', (file) => {
    expect(validate(file)).toBe(false);
  });
});
