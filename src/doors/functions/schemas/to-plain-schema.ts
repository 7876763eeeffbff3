// The schema that every vendor's strict mode takes: types, enums and descriptions, every object closed.
// Bounds and defaults, which most of them refuse, go into the description; an object with free keys becomes a list of
// names and values, which `fromModel` turns back.
import { NacreError } from '../../../contract/failure.ts';
import { type Field, isMap } from '../../../tools/from-model.ts';

/** A schema of this plain kind. */
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

/** How a field that may be left out is written: as one that may be null, or as one that is not required. */
export type OptionalFields = 'nullable' | 'omitted';

/** Reduces a schema to what strict modes take; throws for one that cannot be. */
export function toPlainSchema(schema: Field, optional: OptionalFields): PlainSchema {
  const described = toDescription(schema);
  const { type, enum: values, items, anyOf } = schema;
  if (Array.isArray(anyOf)) {
    return { ...described, anyOf: anyOf.map((one: Field) => toPlainSchema(one, optional)) };
  }
  if ('const' in schema) return { ...described, type: typeof schema.const, enum: [schema.const] };
  if (isMap(schema)) return toPairs(schema, optional);
  if (type === 'object') return { ...described, ...toClosedObject(schema, optional) };
  if (type === 'array') return { ...described, type, items: toPlainSchema((items ?? {}) as Field, optional) };
  if (!isSimple(type)) throw notPlain(schema);
  return { ...described, type, ...(Array.isArray(values) && { enum: values }) };
}

function toClosedObject({ properties = {}, required = [] }: Field, optional: OptionalFields): PlainSchema {
  const needed = required as readonly string[];
  const fields = Object.entries(properties as Readonly<Record<string, Field>>).map(([name, field]) => {
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

function toPairs(schema: Field, optional: OptionalFields): PlainSchema {
  const value = toPlainSchema(schema.additionalProperties as Field, optional);
  const pair: PlainSchema = {
    type: 'object',
    properties: { name: { type: 'string' }, value },
    required: ['name', 'value'],
    additionalProperties: false,
  };
  const { description } = schema;
  const words = typeof description === 'string' ? `${description}, as names and values` : 'Names and values';
  return { type: 'array', description: words, items: pair };
}

function toDescription(schema: Field): Pick<PlainSchema, 'description'> {
  const { description, minimum, maximum, default: preset } = schema;
  const range =
    minimum === undefined
      ? maximum === undefined
        ? []
        : [`at most ${maximum}`]
      : [maximum === undefined ? `at least ${minimum}` : `${minimum} to ${maximum}`];
  const notes = [...range, ...(preset === undefined ? [] : [`default ${JSON.stringify(preset)}`])].join(', ');
  const words = [description, notes && `(${notes})`].filter(Boolean).join(' ');
  return words === '' ? {} : { description: words };
}

const simpleTypes = ['string', 'integer', 'number', 'boolean', 'null'];

function isSimple(type: unknown): type is string | readonly string[] {
  return Array.isArray(type) ? type.every(isSimple) : simpleTypes.includes(String(type));
}

function notPlain(schema: Field): NacreError {
  const found = Object.keys(schema).join(', ') || 'nothing';
  return new NacreError('invalid_request', `A schema with ${found} has no strict form.`, {
    hint: 'Give every field a type, or ask for the schemas with { strict: false }.',
  });
}
