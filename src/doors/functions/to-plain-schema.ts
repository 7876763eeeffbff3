// Reduces a JSON Schema to what every vendor's strict mode accepts: types, enums, descriptions and closed objects.
// `minimum`, `maximum` and `default`, which most vendors reject, go into the description; a map becomes a list of names
// and values, which `fromModel` converts back.
import { NacreError } from '../../contract/failure.ts';
import { isMap, type SchemaField } from '../../tools/common/schema-field.ts';

/** A schema that `toPlainSchema` returns. */
export interface PlainSchema {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly items?: PlainSchema;
  readonly properties?: Readonly<Record<string, PlainSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: false;
  readonly anyOf?: readonly PlainSchema[];
}

/** Encodes an optional field as one that may be null, or by omitting it from `required`. */
export type OptionalFields = 'nullable' | 'omitted';

/** Reduces a schema for strict modes; throws if that is not possible. */
export function toPlainSchema(schema: SchemaField, optional: OptionalFields): PlainSchema {
  const described = toDescription(schema);
  const { type, enum: values, items, anyOf } = schema;
  if (Array.isArray(anyOf)) {
    return { ...described, anyOf: anyOf.map((one: SchemaField) => toPlainSchema(one, optional)) };
  }
  if ('const' in schema) return { ...described, type: typeof schema.const, enum: [schema.const] };
  if (isMap(schema)) return toPairs(schema, optional);
  if (type === 'object') return { ...described, ...toClosedObject(schema, optional) };
  if (type === 'array')
    return { ...described, type, items: toPlainSchema((items ?? {}) as SchemaField, optional) };
  if (!isSimple(type)) throw notPlain(schema);
  return { ...described, type, ...(Array.isArray(values) && { enum: values }) };
}

function toClosedObject(
  { properties = {}, required = [] }: SchemaField,
  optional: OptionalFields,
): PlainSchema {
  const needed = required as readonly string[];
  const fields = Object.entries(properties as Readonly<Record<string, SchemaField>>).map(([name, field]) => {
    const plain = toPlainSchema(field, optional);
    return [name, optional === 'omitted' || needed.includes(name) ? plain : toNullable(plain)] as const;
  });
  return {
    type: 'object',
    properties: Object.fromEntries(fields),
    required: optional === 'omitted' ? needed : fields.map(([name]) => name),
    additionalProperties: false,
  };
}

function toNullable(schema: PlainSchema): PlainSchema {
  const { type, anyOf, enum: values } = schema;
  if (anyOf) return { ...schema, anyOf: [...anyOf, { type: 'null' }] };
  const types = typeof type === 'string' ? [type] : (type ?? []);
  const withNull = values && !values.includes(null) ? { enum: [...values, null] } : {};
  return { ...schema, type: types.includes('null') ? types : [...types, 'null'], ...withNull };
}

function toPairs(schema: SchemaField, optional: OptionalFields): PlainSchema {
  const value = toPlainSchema(schema.additionalProperties as SchemaField, optional);
  const pair: PlainSchema = {
    type: 'object',
    properties: { name: { type: 'string' }, value },
    required: ['name', 'value'],
    additionalProperties: false,
  };
  const { description } = schema;
  const text = typeof description === 'string' ? `${description}, as names and values` : 'Names and values';
  return { type: 'array', description: text, items: pair };
}

function toDescription(schema: SchemaField): Pick<PlainSchema, 'description'> {
  const { description, minimum, maximum, default: defaultValue } = schema;
  const range =
    minimum === undefined
      ? maximum === undefined
        ? []
        : [`at most ${maximum}`]
      : [maximum === undefined ? `at least ${minimum}` : `${minimum} to ${maximum}`];
  const notes = [
    ...range,
    ...(defaultValue === undefined ? [] : [`default ${JSON.stringify(defaultValue)}`]),
  ].join(', ');
  const text = [description, notes && `(${notes})`].filter(Boolean).join(' ');
  return text === '' ? {} : { description: text };
}

const simpleTypes = ['string', 'integer', 'number', 'boolean', 'null'];

function isSimple(type: unknown): type is string | readonly string[] {
  return Array.isArray(type) ? type.every(isSimple) : simpleTypes.includes(String(type));
}

function notPlain(schema: SchemaField): NacreError {
  const found = Object.keys(schema).join(', ') || 'nothing';
  return new NacreError('invalid_request', `A schema with ${found} has no strict form.`, {
    hint: 'Add a type to every field, or request the schemas with { strict: false }.',
  });
}
