import type { Field, Shape } from './check-shape.ts';
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
  const { schema, description } = setting;
  const preset = schema.fallback;
  return {
    description,
    ...(preset === undefined ? {} : { default: preset }),
    ...withText(setting, shapeToJson(schema.shape)),
  };
}

function shapeToJson(shape: Shape): JsonSchema {
  switch (shape.type) {
    case 'int':
      return { type: shape.hasDecimals ? 'number' : 'integer', minimum: shape.min, maximum: shape.max };
    case 'boolean':
      return { type: 'boolean' };
    case 'choice':
      return { type: 'string', enum: shape.options };
    case 'text':
      return textToJson(shape);
    case 'list':
      return without({
        minItems: shape.min,
        maxItems: shape.max,
        type: 'array',
        items: shapeToJson(shape.item),
      });
    case 'object':
      return objectToJson(shape.fields);
    case 'map':
      return {
        type: 'object',
        additionalProperties: shapeToJson(shape.item),
        propertyNames: { pattern: shape.names.source },
      };
  }
}

function textToJson({ min, max, pattern, number }: Extract<Shape, { type: 'text' }>): JsonSchema {
  const text = without({ type: 'string', minLength: min, maxLength: max, pattern: pattern?.source });
  return number ? { anyOf: [shapeToJson(number), text] } : text;
}

function objectToJson(fields: Readonly<Record<string, Field>>): JsonSchema {
  const entries = Object.entries(fields);
  return {
    type: 'object',
    properties: Object.fromEntries(entries.map(([name, { shape }]) => [name, shapeToJson(shape)])),
    required: entries.filter(([, { isOptional }]) => !isOptional).map(([name]) => name),
    additionalProperties: false,
  };
}

function without(schema: JsonSchema): JsonSchema {
  return Object.fromEntries(Object.entries(schema).filter(([, value]) => value !== undefined));
}

/** Also accepts text where a file may have it: `256MiB` for a number of bytes, `git,ls` for a list. */
function withText({ kind }: Setting, value: JsonSchema): JsonSchema {
  if (kind.type === 'list') return { anyOf: [value, { type: 'string' }] };
  if (kind.type !== 'int' || kind.unit === undefined) return value;
  return { anyOf: [value, { type: 'string', pattern: suffixPattern(kind.unit) }] };
}
