// How each vendor's API wants to be told of tools. Nothing of a vendor is loaded: these are their documented forms as data.
import type { JsonSchema } from '../../../tools/define-tool.ts';
import { toMcpTool } from '../../to-mcp-tool.ts';
import type { ExecutionContext } from '../execution-context.ts';
import type { FunctionTool } from '../function-tool.ts';
import { type AiSdkTool, toAiSdkTool, toLangChainTool } from './frameworks.ts';
import { toOpenApiSchema } from './to-openapi-schema.ts';
import { type OptionalFields, toPlainSchema } from './to-plain-schema.ts';

/** What may be asked of schemas. */
export interface SchemaOptions {
  /** Whether the vendor holds the model to the schema; yes for OpenAI and no for Anthropic unless said otherwise. */
  readonly strict?: boolean | undefined;
  /** The context of calls that a framework makes by itself. */
  readonly context?: ExecutionContext | undefined;
}

/** An OpenAI function: the inner part of a chat completion's tool, and with a `type` a tool of a response. */
export interface OpenAiFunction {
  readonly name: string;
  readonly description: string;
  readonly parameters: JsonSchema;
  readonly strict: boolean;
}

/** A tool of Anthropic's messages. */
export interface AnthropicTool {
  readonly name: string;
  readonly description: string;
  readonly input_schema: JsonSchema;
  readonly strict?: true;
}

/** One of Gemini's function declarations; a function that takes nothing has no parameters. */
export interface GeminiFunction {
  readonly name: string;
  readonly description: string;
  /** A schema in its part of OpenAPI; it is not spelled out, since the types in its package are an enum of its own. */
  readonly parameters?: object;
}

/** What each vendor's schemas look like, all tools together; what comes back is the caller's own. */
export interface VendorSchemas {
  readonly openai: { readonly type: 'function'; readonly function: OpenAiFunction }[];
  readonly 'openai-responses': ({ readonly type: 'function' } & OpenAiFunction)[];
  readonly anthropic: AnthropicTool[];
  readonly gemini: GeminiFunction[];
  readonly 'ai-sdk': Record<string, AiSdkTool>;
  readonly langchain: ReturnType<typeof toLangChainTool>[];
  readonly mcp: ReturnType<typeof toMcpTool>[];
}

/** The vendors whose forms are known. */
export type Vendor = keyof VendorSchemas;

type Tools = readonly FunctionTool[];

/** Describes tools to a vendor. */
export function toVendorSchemas<V extends Vendor>(
  vendor: V,
  tools: Tools,
  options: SchemaOptions,
): VendorSchemas[V] {
  return vendors[vendor](tools, options);
}

const vendors: { readonly [V in Vendor]: (tools: Tools, options: SchemaOptions) => VendorSchemas[V] } = {
  openai: (tools, options) =>
    tools.map((tool) => ({ type: 'function', function: toOpenAiFunction(tool, options) })),
  'openai-responses': (tools, options) =>
    tools.map((tool) => ({ type: 'function', ...toOpenAiFunction(tool, options) })),
  anthropic: (tools, options) => tools.map((tool) => toAnthropicTool(tool, options)),
  gemini: (tools) => tools.map(toGeminiFunction),
  'ai-sdk': (tools, { context }) =>
    Object.fromEntries(tools.map((tool) => [tool.name, toAiSdkTool(tool, context)])),
  langchain: (tools, { context }) => tools.map((tool) => toLangChainTool(tool, context)),
  mcp: (tools) => tools.map(toMcpTool),
};

function toOpenAiFunction(tool: FunctionTool, { strict = true }: SchemaOptions): OpenAiFunction {
  const { name, description } = tool;
  const schema = tool.inputSchema();
  return { name, description, parameters: strict ? toStrict(schema, 'nullable') : schema, strict };
}

// Strict tools of one request are compiled together, and many of them are too much, so that they have to be asked for.
function toAnthropicTool(tool: FunctionTool, { strict = false }: SchemaOptions): AnthropicTool {
  const { name, description } = tool;
  const schema = tool.inputSchema();
  if (!strict) return { name, description, input_schema: schema };
  return { name, description, input_schema: toStrict(schema, 'omitted'), strict };
}

function toGeminiFunction(tool: FunctionTool): GeminiFunction {
  const { name, description } = tool;
  const schema = toPlainSchema(tool.inputSchema(), 'omitted');
  const takesNothing = Object.keys(schema.properties ?? {}).length === 0;
  return { name, description, ...(!takesNothing && { parameters: toOpenApiSchema(schema) }) };
}

function toStrict(schema: JsonSchema, optional: OptionalFields): JsonSchema {
  return { ...toPlainSchema(schema, optional), type: 'object' };
}
