/** JSON Schema of one field. */
export type SchemaField = Readonly<Record<string, unknown>>;

/** Tests whether a field is a map: an object whose keys the schema does not name. */
export function isMap({ type, properties, additionalProperties }: SchemaField): boolean {
  return type === 'object' && properties === undefined && typeof additionalProperties === 'object';
}
