// A tool call:
// 1. `fromModel` undoes what vendors make models write: arguments as JSON text, null for an omitted field, a list of
//    names and values or of `NAME=value` strings for a map,
// 2. `receive` validates the input against the zod schema and reports all problems in one error,
// 3. `run` does the work and returns a reply, 4. `fail` turns anything thrown on the way into a reply.
import { z } from 'zod';
import { NacreError } from '../../contract/failure.ts';
import { fieldsAt } from '../../settings/fields-at.ts';
import { didYouMean } from '../../settings/nearest.ts';
import { nameTools } from '../../support/name-tools.ts';
import { isMap, type SchemaField } from './schema-field.ts';
import type { Tool, ToolAnnotations, ToolContext, ToolReply, ToolSchema } from './tool.ts';

/** Declaration of a tool. */
export interface ToolDeclaration<Input extends z.ZodObject> {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly annotations: ToolAnnotations;
  readonly alwaysLoad?: boolean | undefined;
  readonly choosesMachine?: boolean | undefined;
  readonly input: Input;
  readonly output: z.ZodObject;
  run(input: z.output<Input>, context: ToolContext): Promise<ToolReply>;
  /** Turns an error thrown by `receive` or `run` into a reply in the family's format. */
  fail(error: unknown): ToolReply;
}

/** Creates a tool from its declaration: derives the schemas, validates input, and replies to every failure. */
export function defineTool<Input extends z.ZodObject>(declaration: ToolDeclaration<Input>): Tool {
  const { name, title, description, annotations, alwaysLoad, choosesMachine, input, output } = declaration;
  let cached: ToolSchema | undefined;
  const inputSchema = () => {
    cached ??= toJsonSchema(input, 'input');
    return cached;
  };
  return {
    name,
    title,
    description,
    annotations,
    alwaysLoad,
    choosesMachine,
    inputSchema,
    outputSchema: () => toJsonSchema(output, 'output'),
    async call(raw, context) {
      try {
        return await declaration.run(receive(name, input, fromModel(inputSchema(), raw)), context);
      } catch (error) {
        return declaration.fail(nameToolsIn(error, context));
      }
    },
  };
}

function nameToolsIn(error: unknown, { toolPrefix }: ToolContext): unknown {
  if (!(error instanceof NacreError) || toolPrefix === undefined) return error;
  const { code, message, hint, details } = error;
  return new NacreError(code, nameTools(toolPrefix, message), {
    hint: hint === undefined ? undefined : nameTools(toolPrefix, hint),
    details,
  });
}

// Drops `$schema`: MCP clients assume 2020-12 anyway, and the URL costs tokens.
function toJsonSchema(schema: z.ZodObject, io: 'input' | 'output'): ToolSchema {
  const options = { io, target: 'draft-2020-12', override } as const;
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, options);
  return { properties: {}, ...rest, type: 'object' };
}

// Schemas are part of a model's context, so drop keywords that do not help it; `receive` still enforces the lengths.
function override({ jsonSchema }: { readonly jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  delete jsonSchema.maxLength;
  delete jsonSchema.minLength;
  delete jsonSchema.propertyNames;
  joinTypes(jsonSchema);
  const { additionalProperties } = jsonSchema;
  if (typeof additionalProperties === 'object' && Object.keys(additionalProperties).length === 0)
    delete jsonSchema.additionalProperties;
}

// `type: [T, 'null']` is shorter than `anyOf`.
function joinTypes(jsonSchema: z.core.JSONSchema.BaseSchema): void {
  const [one, other, ...more] = jsonSchema.anyOf ?? [];
  if (more.length > 0 || other?.type !== 'null' || Object.keys(one ?? {}).join() !== 'type') return;
  delete jsonSchema.anyOf;
  Object.assign(jsonSchema, { type: [one?.type, 'null'] });
}

/** Validates a tool's input; throws one error that lists every problem with its field. */
export function receive<Input extends z.ZodObject>(
  tool: string,
  input: Input,
  raw: unknown,
  hint = `Correct these fields and call ${tool} again; nothing was run.`,
): z.output<Input> {
  const parsed = input.safeParse(raw ?? {}, zodMessages);
  if (parsed.success) return parsed.data;
  const problems = toProblems(parsed.error, input).map(({ sentence }) => sentence);
  throw new NacreError('invalid_request', `Invalid input for ${tool}: ${problems.join('; ')}.`, {
    hint,
    details: { problems },
  });
}

/** Converts arguments as models write them into the input of a tool; leaves all other problems to `receive`. */
export function fromModel(schema: ToolSchema, raw: unknown): unknown {
  const args = typeof raw === 'string' ? parseJson(raw) : raw;
  if (typeof args !== 'object' || args === null || Array.isArray(args)) return args;
  const { properties = {}, required = [] } = schema as Partial<ObjectSchema>;
  const entries = Object.entries(args).flatMap(([name, value]) => {
    const field = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (field === undefined) return [[name, value]];
    const isOmitted = value === null && !required.includes(name) && !acceptsNull(field);
    return isOmitted ? [] : [[name, isMap(field) ? fromPairs(value, field) : value]];
  });
  return Object.fromEntries(entries);
}

interface ObjectSchema {
  readonly properties: Readonly<Record<string, SchemaField>>;
  readonly required: readonly string[];
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function acceptsNull({ type, anyOf, enum: values }: SchemaField): boolean {
  const types = Array.isArray(type) ? type : [type];
  const isAlternative = Array.isArray(anyOf) && anyOf.some((one: SchemaField) => acceptsNull(one));
  return types.includes('null') || isAlternative || (Array.isArray(values) && values.includes(null));
}

function fromPairs(value: unknown, { additionalProperties }: SchemaField): unknown {
  if (!Array.isArray(value)) return value;
  const pairs = value.map((one) => (typeof one === 'string' ? splitPair(one) : one));
  if (!pairs.every(isPair)) return value;
  const isNumeric = (additionalProperties as SchemaField).type === 'integer';
  return Object.fromEntries(pairs.map((pair) => [pair.name, isNumeric ? toNumber(pair.value) : pair.value]));
}

function splitPair(text: string): unknown {
  const at = text.indexOf('=');
  return at === -1 ? text : { name: text.slice(0, at), value: text.slice(at + 1) };
}

// If it is not a number, `receive` reports it.
function toNumber(value: unknown): unknown {
  return typeof value === 'string' && /^\d{1,16}$/.test(value) ? Number(value) : value;
}

function isPair(value: unknown): value is { name: string; value: unknown } {
  return typeof value === 'object' && value !== null && 'name' in value && typeof value.name === 'string';
}

/** One problem of a value and its path in it. */
export interface Problem {
  readonly path: readonly PropertyKey[];
  readonly sentence: string;
}

/** Converts zod's issues into sentences; an unknown field gets the nearest name of the object that it is in. */
export function toProblems({ issues }: z.core.$ZodError, schema: z.ZodType): readonly Problem[] {
  return issues.flatMap((issue) =>
    toSentences(issue, schema).map((sentence, index) => {
      const key = issue.code === 'unrecognized_keys' ? issue.keys.slice(index, index + 1) : [];
      return { path: [...issue.path, ...key], sentence };
    }),
  );
}

/** Options for `safeParse`: messages for issues for which the schema defines none. */
export const zodMessages = { error: toPredicate };

function toPredicate(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case 'invalid_type':
      if (issue.input === undefined) return 'is required';
      return `must be ${kinds[issue.expected] ?? issue.expected}, not ${describe(issue.input)}`;
    case 'too_small':
      if (issue.origin === 'array') return `must have at least ${issue.minimum} entries`;
      if (issue.origin === 'string' && issue.minimum === 1) return 'must not be empty';
      return `must be at least ${issue.minimum}, not ${describe(issue.input)}`;
    case 'too_big':
      if (issue.origin === 'array') return `must have at most ${issue.maximum} entries`;
      if (issue.origin === 'string') return `must have at most ${issue.maximum} characters`;
      return `must be at most ${issue.maximum}, not ${describe(issue.input)}`;
    case 'invalid_value':
      return `must be ${issue.values.join(' or ')}, not ${describe(issue.input)}`;
    default:
      return undefined;
  }
}

const kinds: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  object: 'an object',
  record: 'an object',
  boolean: 'true or false',
  array: 'a list',
};

const maxShownChars = 40;

function describe(value: unknown): string {
  if (typeof value === 'string') return quote(value);
  if (typeof value !== 'object' || value === null) return String(value);
  return Array.isArray(value) ? 'a list' : 'an object';
}

function toSentences(issue: z.core.$ZodIssue, schema: z.ZodType): readonly string[] {
  if (issue.code === 'unrecognized_keys') {
    const known = fieldsAt(schema, issue.path);
    return issue.keys.map((key) => `there is no field ${quote(key)}${suggest(key, known)}`);
  }
  const message = issue.code === 'invalid_key' ? (issue.issues[0]?.message ?? issue.message) : issue.message;
  const field = shorten(issue.path.map((key) => (key === '' ? '""' : String(key))).join('.')) || 'the input';
  if (message.startsWith(`${field} `)) return [message];
  return [/^(?:must|is) /.test(message) ? `${field} ${message}` : `${field}: ${message}`];
}

function suggest(key: string, known: readonly string[]): string {
  const sentence = didYouMean(shorten(key), known);
  return sentence === '' ? '' : ` (${sentence.trim()})`;
}

function quote(text: string): string {
  return JSON.stringify(shorten(text));
}

function shorten(text: string): string {
  return (text.length > maxShownChars ? `${text.slice(0, maxShownChars)}…` : text).toWellFormed();
}
