import type { PlainSchema } from './to-plain-schema.ts';

/** A schema in the subset of OpenAPI 3.0 that Gemini accepts. */
export interface OpenApiSchema {
  readonly type?: string;
  readonly description?: string;
  readonly format?: 'enum';
  readonly nullable?: true;
  readonly enum?: readonly string[];
  readonly items?: OpenApiSchema;
  readonly properties?: Readonly<Record<string, OpenApiSchema>>;
  readonly required?: readonly string[];
  readonly propertyOrdering?: readonly string[];
  readonly anyOf?: readonly OpenApiSchema[];
}

/** Converts a plain schema: one upper-case `type`, `nullable` in place of a null type, no `additionalProperties`. */
export function toOpenApiSchema(schema: PlainSchema): OpenApiSchema {
  const { description, items, properties, required, anyOf } = schema;
  return {
    ...toType(schema),
    ...(description !== undefined && { description }),
    ...toEnum(schema),
    ...(items && { items: toOpenApiSchema(items) }),
    ...(anyOf && { anyOf: anyOf.map(toOpenApiSchema) }),
    ...(properties && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, field]) => [name, toOpenApiSchema(field)]),
      ),
      propertyOrdering: Object.keys(properties),
    }),
    ...(required && required.length > 0 && { required }),
  };
}

function toType({ type }: PlainSchema): Pick<OpenApiSchema, 'type' | 'nullable' | 'anyOf'> {
  const types = type === undefined ? [] : [type].flat();
  const [first, ...more] = types.filter((one) => one !== 'null').map((one) => one.toUpperCase());
  const nullable = types.includes('null') && { nullable: true as const };
  if (first === undefined) return { ...nullable };
  return more.length === 0
    ? { type: first, ...nullable }
    : { anyOf: [first, ...more].map((one) => ({ type: one })), ...nullable };
}

// Gemini accepts only string enums; for other values only `type` remains, and the tool checks the value.
function toEnum({ enum: values }: PlainSchema): Pick<OpenApiSchema, 'enum' | 'format'> {
  const nonNull = values?.filter((value) => value !== null);
  const isStrings = (list: readonly unknown[] | undefined): list is readonly string[] =>
    list?.every((value) => typeof value === 'string') ?? false;
  return isStrings(nonNull) ? { format: 'enum', enum: nonNull } : {};
}
