/** The part of a JSON Schema that an example depends on. */
interface ExampleSchema {
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly minimum?: number;
  readonly anyOf?: readonly ExampleSchema[];
  readonly properties?: Readonly<Record<string, ExampleSchema>>;
  readonly required?: readonly string[];
}

// Example values for fields whose type alone would produce a meaningless one; optional fields in this list are included
// in examples.
const examples: Readonly<Record<string, unknown>> = {
  args: ['--version'],
  id: 'a1',
  command_id: 'cmd_5f9c6f91bfc1',
  shell_id: 'shell_5f9c6f91bfc1',
  bash_id: 'shell_5f9c6f91bfc1',
  data: 'hello\n',
  error: 'rm is not allowed, because it is not in SHELL_ALLOWLIST.',
  reason: 'policy_denied',
  cause: 'exit',
  cursor: 6,
};

/** An example of an object with this schema: its required fields, and optional ones that have an example here. */
export function toExample({
  properties = {},
  required = [],
}: ExampleSchema): Readonly<Record<string, unknown>> {
  const shown = Object.entries(properties).filter(
    ([name, schema]) =>
      required.includes(name) || (schema.type !== undefined && Object.hasOwn(examples, name)),
  );
  // Without a list of arguments, the command is a line for a shell.
  const command = Object.hasOwn(properties, 'args') ? 'git' : 'git --version';
  return Object.fromEntries(
    shown.map(([name, schema]) => [name, name === 'command' ? command : toValue(name, schema)]),
  );
}

function toValue(name: string, schema: ExampleSchema): unknown {
  if (Object.hasOwn(examples, name)) return examples[name];
  if (schema.const !== undefined) return schema.const;
  if (schema.enum !== undefined) return schema.enum[0];
  const [first] = schema.anyOf ?? [];
  if (first !== undefined)
    return schema.anyOf?.some(({ type }) => type === 'null') ? null : toValue(name, first);
  const type = [schema.type ?? 'object'].flat()[0];
  if (type === 'integer' || type === 'number') return Math.max(schema.minimum ?? 0, 0);
  if (type === 'boolean') return false;
  if (type === 'array') return [];
  return type === 'object' ? toExample(schema) : 'text';
}
