// What a model writes for a schema, as the tool means it:
// 1. arguments come as JSON text from some vendors, 2. where every field must be given, null stands for what is left out,
// 3. where no object may have free keys, a list of names and values stands for one.
import type { JsonSchema } from './define-tool.ts';

/** Turns arguments as models write them into the input of a tool; whatever else is wrong is left to the tool. */
export function fromModel(schema: JsonSchema, raw: unknown): unknown {
  const given = typeof raw === 'string' ? parsed(raw) : raw;
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return given;
  const { properties = {}, required = [] } = schema as Partial<ObjectSchema>;
  const entries = Object.entries(given).flatMap(([name, value]) => {
    const field = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (field === undefined) return [[name, value]];
    const leftOut = value === null && !required.includes(name) && !takesNull(field);
    return leftOut ? [] : [[name, isMap(field) ? fromPairs(value) : value]];
  });
  return Object.fromEntries(entries);
}

interface ObjectSchema {
  readonly properties: Readonly<Record<string, Field>>;
  readonly required: readonly string[];
}

/** One field of an object's schema. */
export type Field = Readonly<Record<string, unknown>>;

/** Whether a field is an object with free keys. */
export function isMap({ type, properties, additionalProperties }: Field): boolean {
  return type === 'object' && properties === undefined && typeof additionalProperties === 'object';
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function takesNull({ type, anyOf, enum: values }: Field): boolean {
  const types = Array.isArray(type) ? type : [type];
  const inside = Array.isArray(anyOf) && anyOf.some((one: Field) => takesNull(one));
  return types.includes('null') || inside || (Array.isArray(values) && values.includes(null));
}

function fromPairs(value: unknown): unknown {
  if (!Array.isArray(value) || !value.every(isPair)) return value;
  return Object.fromEntries(value.map((pair) => [pair.name, pair.value]));
}

function isPair(value: unknown): value is { name: string; value: unknown } {
  return typeof value === 'object' && value !== null && 'name' in value && typeof value.name === 'string';
}
