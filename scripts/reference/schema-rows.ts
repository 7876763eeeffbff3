/** The part of a JSON Schema that the reference shows. */
export interface Schema {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
}

/** One row for each field of an object, nested ones included: name, type, `required` or the default, description. */
export function toRows({ properties = {}, required = [] }: Schema, before = ''): string[][] {
  return Object.entries(properties).flatMap(([name, schema]) => [
    [
      `\`${before}${name}\``,
      typeOf(schema),
      required.includes(name) && schema.default === undefined ? 'required' : unset(schema),
      schema.description ?? '',
    ],
    ...toRows(schema, `${before}${name}.`),
  ]);
}

function unset({ default: value }: Schema): string {
  return value === undefined ? '' : `\`${JSON.stringify(value)}\``;
}

function typeOf(schema: Schema): string {
  if (schema.enum) return schema.enum.map((one) => `\`${String(one)}\``).join(', ');
  if (schema.const !== undefined) return `\`${String(schema.const)}\``;
  if (schema.anyOf) return schema.anyOf.map(typeOf).join(' or ');
  if (schema.type === 'array') return `list of ${typeOf(schema.items ?? {})}`;
  return [[schema.type ?? 'anything'].flat().join(' or '), range(schema)].filter(Boolean).join(' ');
}

function range({ minimum, maximum }: Schema): string {
  const isOpen = maximum === undefined || maximum >= Number.MAX_SAFE_INTEGER;
  if (minimum === undefined || minimum <= Number.MIN_SAFE_INTEGER) return isOpen ? '' : `to ${maximum}`;
  return isOpen ? `from ${minimum}` : `${minimum} to ${maximum}`;
}
