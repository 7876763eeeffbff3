import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createNacre, type Nacre, ToolRegistry } from '../../src/index.ts';
import { createPlace, surroundingsOf } from '../support/nacre.ts';

type Schema = Readonly<Record<string, unknown>>;

const ajv = new Ajv2020({ strict: false });
let nacre: Nacre<'all'>;
let registry: ToolRegistry;

beforeAll(async () => {
  nacre = await createNacre({ tools: ['all'] }, surroundingsOf(createPlace()));
  registry = new ToolRegistry();
  for (const tool of nacre.registry.list()) registry.register(tool);
  registry.register({
    name: 'read_notes',
    description: 'Reads the notes.',
    category: 'notes',
    inputSchema: () => ({
      type: 'object',
      properties: {
        about: { type: 'string', minLength: 1 },
        tags: { type: 'array', items: { type: 'string', enum: ['new', 'old'] } },
        scores: { type: 'object', additionalProperties: { type: 'integer' } },
        nested: { type: 'object', properties: { deep: { type: 'boolean' } } },
      },
      required: ['about'],
    }),
    run: async () => ({ success: true, output: '', metadata: {} }),
  });
  registry.register({
    name: 'list_notes',
    description: 'Lists them.',
    category: 'notes',
    inputSchema: () => ({ type: 'object', properties: {} }),
    run: async () => ({ success: true, output: '', metadata: {} }),
  });
});
afterAll(() => nacre.close());

const names = () => registry.list().map(({ name }) => name);

/** All schemas nested in a schema, and the schema itself. */
function* inside(schema: Schema): Generator<Schema> {
  yield schema;
  const { properties = {}, items, anyOf = [] } = schema as Record<string, object>;
  for (const one of [...Object.values(properties), ...(items ? [items] : []), ...(anyOf as object[])])
    yield* inside(one as Schema);
}

const keywords = (schema: Schema) => [...new Set([...inside(schema)].flatMap(Object.keys))];
const objects = (schema: Schema) =>
  [...inside(schema)].filter(({ type }) => [type].flat().includes('object'));

/** Asserts that a schema is valid JSON Schema of type object, without `$schema` and top-level unions. */
function expectJsonSchema(schema: Schema) {
  expect(ajv.validateSchema(schema), ajv.errorsText()).toBe(true);
  expect(schema).toMatchObject({ type: 'object', properties: expect.any(Object) });
  expect(schema).not.toHaveProperty('$schema');
  for (const union of ['anyOf', 'oneOf', 'allOf']) expect(schema).not.toHaveProperty(union);
}

/** Asserts the rules for strict schemas that OpenAI and Anthropic share. */
function expectClosed(schema: Schema) {
  const plain = [
    'type',
    'description',
    'enum',
    'items',
    'properties',
    'required',
    'additionalProperties',
    'anyOf',
  ];
  expect(plain).toEqual(expect.arrayContaining(keywords(schema)));
  for (const one of objects(schema)) expect(one.additionalProperties).toBe(false);
}

describe('B15: schemas for', () => {
  it('openai Chat Completions are strict', () => {
    const tools = registry.getAllSchemas('openai');
    expect(tools.map((tool) => tool.function.name)).toEqual(names());
    for (const { type, function: fn } of tools) {
      expect([type, fn.strict]).toEqual(['function', true]);
      expect(fn.name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
      expect(fn.description.length).toBeLessThanOrEqual(1_024);
      expectStrict(fn.parameters as Schema);
    }
  });

  it('openai Responses are the same, one level up', () => {
    const flat = registry.getAllSchemas('openai').map(({ type, function: fn }) => ({ type, ...fn }));
    expect(registry.getAllSchemas('openai-responses')).toEqual(flat);
  });

  it('openai without strict mode are those of the tools', () => {
    for (const { strict, name, parameters } of registry.getAllSchemas('openai-responses', {
      strict: false,
    })) {
      expect(strict).toBe(false);
      expect(parameters).toEqual(registry.get(name)?.inputSchema());
    }
  });

  it('anthropic are JSON Schema 2020-12, and strict on request', () => {
    for (const tool of registry.getAllSchemas('anthropic')) {
      expect(tool.name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/);
      expect(Object.keys(tool).sort()).toEqual(['description', 'input_schema', 'name']);
      expectJsonSchema(tool.input_schema as Schema);
    }
    for (const tool of registry.getAllSchemas('anthropic', { strict: true })) {
      expect(tool.strict).toBe(true);
      expectJsonSchema(tool.input_schema as Schema);
      expectClosed(tool.input_schema as Schema);
    }
  });

  it('gemini are in its subset of OpenAPI', () => {
    const allowed = 'type format description nullable enum items properties required propertyOrdering anyOf';
    for (const { name, parameters } of registry.getAllSchemas('gemini')) {
      expect(name).toMatch(/^[A-Za-z_][A-Za-z0-9_.-]{0,63}$/);
      if (parameters === undefined) continue;
      expect(allowed.split(' ')).toEqual(expect.arrayContaining(keywords(parameters as Schema)));
      for (const one of inside(parameters as Schema)) {
        expect(one.type).toMatch(/^(?:STRING|NUMBER|INTEGER|BOOLEAN|ARRAY|OBJECT)$/);
        if (one.type === 'OBJECT') expect(Object.keys(one.properties as object)).not.toEqual([]);
        if (one.type === 'ARRAY') expect(one.items).toBeDefined();
        if (one.enum) expect(one.format).toBe('enum');
        for (const needed of (one.required ?? []) as string[]) expect(one.properties).toHaveProperty(needed);
      }
    }
    expect(registry.getAllSchemas('gemini').at(-1)).toEqual({
      name: 'list_notes',
      description: 'Lists them.',
    });
  });

  it('the AI SDK equal those of its tool() and jsonSchema(), and pass on the abort signal of a call', async () => {
    const tools = registry.getAllSchemas('ai-sdk', { context: { dryRun: true } });
    expect(Object.keys(tools)).toEqual(names());
    for (const { inputSchema, description } of Object.values(tools)) {
      expect(description).toMatch(/\S/);
      expect(Reflect.get(inputSchema, Symbol.for('vercel.ai.schema'))).toBe(true);
      expectJsonSchema(inputSchema.jsonSchema);
      expect(inputSchema.validate({ x: 1 })).toEqual({ success: true, value: { x: 1 } });
      const standard = inputSchema['~standard'];
      expect(standard.validate({ x: 1 })).toEqual({ value: { x: 1 } });
      for (const side of ['input', 'output'] as const)
        expect(standard.jsonSchema[side]()).toBe(inputSchema.jsonSchema);
    }
    expect(
      await tools.read_notes?.execute({ about: 'x' }, { abortSignal: AbortSignal.abort() }),
    ).toMatchObject({
      success: true,
    });
  });

  it('LangChain are fields of a DynamicStructuredTool, with the result as artifact', async () => {
    const tools = registry.getAllSchemas('langchain');
    expect(tools.map(({ name }) => name)).toEqual(names());
    for (const { schema, responseFormat } of tools) {
      expectJsonSchema(schema);
      expect(responseFormat).toBe('content_and_artifact');
    }
    const check = tools.find(({ name }) => name === 'check_command');
    const [content, artifact] = (await check?.func({ command: 'rm x' })) ?? [];
    expect(content).toContain('verdict: "deny"');
    expect(artifact).toMatchObject({ success: true, metadata: { verdict: 'deny' } });
  });

  it('mcp equal those of tools/list', () => {
    const [first, ...more] = registry.getAllSchemas('mcp');
    expect(Object.keys(first ?? {})).toEqual([
      'name',
      'title',
      'description',
      'inputSchema',
      'outputSchema',
      'annotations',
    ]);
    for (const { inputSchema } of [...more]) expectJsonSchema(inputSchema);
    expect(Object.keys(more.at(-1) ?? {})).toEqual(['name', 'description', 'inputSchema']);
  });
});

/** Asserts OpenAI's further rule: every field is required, and null means omitted. */
function expectStrict(schema: Schema) {
  expectJsonSchema(schema);
  expectClosed(schema);
  for (const { properties, required } of objects(schema))
    expect(required).toEqual(Object.keys(properties as object));
}
