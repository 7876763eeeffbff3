// Tool definitions in the documented format of each vendor's API, as plain data; no vendor package is imported.
import { NacreError } from '../../contract/failure.ts';
import { didYouMean } from '../../settings/nearest.ts';
import type { ToolSchema } from '../../tools/common/tool.ts';
import { toMcpTool } from '../to-mcp-tool.ts';
import type { ExecutionContext } from './execution-context.ts';
import { type AiSdkTool, toAiSdkTool, toLangChainTool } from './framework-tools.ts';
import type { FunctionTool } from './function-tool.ts';
import { toOpenApiSchema } from './to-openapi-schema.ts';
import { type OptionalFields, toPlainSchema } from './to-plain-schema.ts';

/** Options of `getAllSchemas`. */
export interface SchemaOptions {
  /** Whether the vendor enforces the schema on the model; by default true for OpenAI and false for Anthropic. */
  readonly strict?: boolean | undefined;
  /** Context of the calls that `ai-sdk` and `langchain` tools make. */
  readonly context?: ExecutionContext | undefined;
}

/** An OpenAI function: the `function` of a Chat Completions tool; with a `type`, a tool of the Responses API. */
export interface OpenAiFunction {
  readonly name: string;
  readonly description: string;
  readonly parameters: ToolSchema;
  readonly strict: boolean;
}

/** A tool of Anthropic's Messages API. */
export interface AnthropicTool {
  readonly name: string;
  readonly description: string;
  readonly input_schema: ToolSchema;
  readonly strict?: true;
}

/** A Gemini function declaration; `parameters` is absent if the tool has no input fields. */
export interface GeminiFunction {
  readonly name: string;
  readonly description: string;
  /** An `OpenApiSchema`, typed as `object` because Gemini's package declares `type` as its own enum. */
  readonly parameters?: object;
}

/** The schemas of all tools in each vendor's format; the caller may modify them. */
export interface VendorSchemas {
  readonly openai: { readonly type: 'function'; readonly function: OpenAiFunction }[];
  readonly 'openai-responses': ({ readonly type: 'function' } & OpenAiFunction)[];
  readonly anthropic: AnthropicTool[];
  readonly gemini: GeminiFunction[];
  readonly 'ai-sdk': Record<string, AiSdkTool>;
  readonly langchain: ReturnType<typeof toLangChainTool>[];
  readonly mcp: ReturnType<typeof toMcpTool>[];
}

/** A key of `VendorSchemas`. */
export type Vendor = keyof VendorSchemas;

type Tools = readonly FunctionTool[];

/** Converts tools into a vendor's format; throws `invalid_request` for an unknown vendor. */
export function toVendorSchemas<V extends Vendor>(
  vendor: V,
  tools: Tools,
  options: SchemaOptions,
): VendorSchemas[V] {
  // JavaScript programs and configuration files can pass any value.
  if (!Object.hasOwn(vendors, vendor)) throw unknownVendor(vendor);
  return vendors[vendor](tools, options);
}

function unknownVendor(vendor: unknown): NacreError {
  const known = Object.keys(vendors);
  const suggestion = typeof vendor === 'string' ? didYouMean(vendor, known) : '';
  const message = `There is no vendor ${showValue(vendor)}.${suggestion} The vendors are ${known.join(', ')}.`;
  return new NacreError('invalid_request', message, { hint: 'Pass one of these names to getAllSchemas.' });
}

const maxShownChars = 40;

function showValue(value: unknown): string {
  return typeof value === 'string'
    ? JSON.stringify(value.slice(0, maxShownChars))
    : `of type ${typeof value}`;
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
  mcp: (tools) => tools.map((tool) => toMcpTool(tool)),
};

function toOpenAiFunction(tool: FunctionTool, { strict = true }: SchemaOptions): OpenAiFunction {
  const { name, description } = tool;
  const schema = tool.inputSchema();
  return { name, description, parameters: strict ? toStrict(schema, 'nullable') : schema, strict };
}

// Tools are not strict by default: Anthropic compiles all strict tools of a request together and rejects too many.
function toAnthropicTool(tool: FunctionTool, { strict = false }: SchemaOptions): AnthropicTool {
  const { name, description } = tool;
  const schema = tool.inputSchema();
  if (!strict) return { name, description, input_schema: schema };
  return { name, description, input_schema: toStrict(schema, 'omitted'), strict };
}

function toGeminiFunction(tool: FunctionTool): GeminiFunction {
  const { name, description } = tool;
  const schema = toPlainSchema(tool.inputSchema(), 'omitted');
  const hasFields = Object.keys(schema.properties ?? {}).length > 0;
  return { name, description, ...(hasFields && { parameters: toOpenApiSchema(schema) }) };
}

function toStrict(schema: ToolSchema, optional: OptionalFields): ToolSchema {
  return { ...toPlainSchema(schema, optional), type: 'object' };
}
