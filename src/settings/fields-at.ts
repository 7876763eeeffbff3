import { z } from 'zod';

/** The names of the fields of the object at `path` in a schema; none if there is no object. */
export function fieldsAt(schema: z.core.$ZodType, path: readonly PropertyKey[]): readonly string[] {
  const inner = withoutWrappers(schema);
  const [first, ...rest] = path;
  if (first === undefined) return inner instanceof z.ZodObject ? Object.keys(inner.shape) : [];
  if (inner instanceof z.ZodArray) return fieldsAt(inner.element, rest);
  if (inner instanceof z.ZodRecord) return fieldsAt(inner.valueType, rest);
  const field = inner instanceof z.ZodObject ? inner.shape[String(first)] : undefined;
  return field === undefined ? [] : fieldsAt(field, rest);
}

// In a union, only the object has fields; the other options, such as a plain word, have none.
function withoutWrappers(schema: z.core.$ZodType): z.core.$ZodType {
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodOptional || schema instanceof z.ZodNullable)
    return withoutWrappers(schema.unwrap());
  if (schema instanceof z.ZodPipe) return withoutWrappers(schema.in);
  if (!(schema instanceof z.ZodUnion)) return schema;
  const options = schema.options.map(withoutWrappers);
  return options.find((option) => option instanceof z.ZodObject) ?? schema;
}
