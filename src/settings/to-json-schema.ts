import { z } from 'zod';
import { type Declarations, listSettings, type Setting } from './define.ts';
import { suffixPattern } from './units.ts';

/** A JSON Schema, as plain data. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** The JSON Schema (2020-12) of a settings file. */
export function toJsonSchema(declarations: Declarations): JsonSchema {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'nacre settings',
    type: 'object',
    properties: Object.fromEntries(listSettings(declarations).map((one) => [one.key, toProperty(one)])),
    additionalProperties: false,
  };
}

function toProperty(setting: Setting): JsonSchema {
  const {
    $schema: _,
    description,
    default: preset,
    ...value
  } = z.toJSONSchema(setting.schema, {
    io: 'input',
    override: ({ jsonSchema }) => {
      for (const part of [
        'env',
        'flag',
        'project',
        'everything',
        'path',
        'accepts',
        'unset',
        'secret',
        'implies',
        'live',
      ])
        delete jsonSchema[part];
    },
  });
  return { description, ...(preset === undefined ? {} : { default: preset }), ...withText(setting, value) };
}

/** Also accepts text where a file may have it: `256MiB` for a number of bytes, `git,ls` for a list. */
function withText({ kind }: Setting, value: JsonSchema): JsonSchema {
  if (kind.type === 'list') return { anyOf: [value, { type: 'string' }] };
  if (kind.type !== 'int' || kind.unit === undefined) return value;
  return { anyOf: [value, { type: 'string', pattern: suffixPattern(kind.unit) }] };
}
