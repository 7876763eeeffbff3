import { z } from 'zod';
import { type Unit, unitOf } from './units.ts';

/** The kind of value that a setting's schema accepts. */
export type Kind =
  | { readonly type: 'int'; readonly min: number; readonly max: number; readonly unit: Unit | undefined }
  | { readonly type: 'boolean' }
  | { readonly type: 'choice'; readonly options: readonly string[] }
  | { readonly type: 'text' }
  | { readonly type: 'list'; readonly options: readonly string[] | undefined }
  /** A list of objects; only a settings file can express it. */
  | { readonly type: 'records' };

/** Returns the kind of a schema; throws for one that no flag, variable or file could express. */
export function toKind(name: string, schema: z.ZodType): Kind {
  const inner = withoutWrapper(schema);
  if (inner instanceof z.ZodNumber) return toIntKind(name, inner);
  if (inner instanceof z.ZodBoolean) return { type: 'boolean' };
  if (inner instanceof z.ZodEnum) return { type: 'choice', options: toOptions(inner) };
  if (inner instanceof z.ZodString) return { type: 'text' };
  if (inner instanceof z.ZodArray) return toListKind(name, inner);
  throw new Error(`Setting ${name} has a schema that cannot be set as text.`);
}

function withoutWrapper(schema: z.core.$ZodType): z.core.$ZodType {
  const wrapped = schema instanceof z.ZodDefault || schema instanceof z.ZodOptional;
  return wrapped ? withoutWrapper(schema.unwrap()) : schema;
}

function toIntKind(name: string, schema: z.ZodNumber): Kind {
  const { minValue: min, maxValue: max } = schema;
  const bounded =
    min !== null && max !== null && min > Number.MIN_SAFE_INTEGER && max < Number.MAX_SAFE_INTEGER;
  if (!schema.isInt || !bounded)
    throw new Error(`Setting ${name} must be a whole number with bounds: use z.int().min().max().`);
  return { type: 'int', min, max, unit: unitOf(name) };
}

function toListKind(name: string, schema: z.ZodArray): Kind {
  const item = schema.element;
  if (item instanceof z.ZodEnum) return { type: 'list', options: toOptions(item) };
  // `ZodPipe` is an item that a file may also write as a number, and that `transform` turns into text.
  if (item instanceof z.ZodString || item instanceof z.ZodPipe) return { type: 'list', options: undefined };
  if (item instanceof z.ZodObject) return { type: 'records' };
  throw new Error(`Setting ${name} is a list of something that is neither text nor an object.`);
}

function toOptions(schema: z.ZodEnum): string[] {
  return schema.options.map(String);
}
