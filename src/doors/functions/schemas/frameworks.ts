import type { ToolResult } from '../../../contract/tool-result.ts';
import type { JsonSchema } from '../../../tools/define-tool.ts';
import { fromModel } from '../../../tools/from-model.ts';
import type { ExecutionContext } from '../execution-context.ts';
import { type FunctionTool, toText } from '../function-tool.ts';

// The AI SDK knows a JSON Schema by this mark, which its `jsonSchema()` sets as well. Its types know it only by a symbol of
// their own; what they know without it is a standard schema.
const aiSdkSchema: unique symbol = Symbol.for('vercel.ai.schema') as never;

/** A schema by which the AI SDK tells the model what a tool takes; what came is left to the tool. */
export interface AiSdkSchema {
  readonly [aiSdkSchema]: true;
  readonly jsonSchema: JsonSchema;
  validate(value: unknown): { readonly success: true; readonly value: unknown };
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: 'nacre';
    validate(value: unknown): { readonly value: unknown };
    readonly jsonSchema: { input(): JsonSchema; output(): JsonSchema };
  };
}

/** A tool as the AI SDK's `tool()` makes one. */
export interface AiSdkTool {
  readonly description: string;
  readonly inputSchema: AiSdkSchema;
  execute(input: unknown, options?: { readonly abortSignal?: AbortSignal | undefined }): Promise<ToolResult>;
}

/** A tool for the AI SDK, which calls it by itself. The tool answers bad input, so that the model can correct it. */
export function toAiSdkTool(tool: FunctionTool, context: ExecutionContext = {}): AiSdkTool {
  return {
    description: tool.description,
    inputSchema: toAiSdkSchema(tool.inputSchema()),
    execute: (input, { abortSignal } = {}) => call(tool, input, context, abortSignal),
  };
}

function toAiSdkSchema(jsonSchema: JsonSchema): AiSdkSchema {
  return {
    [aiSdkSchema]: true,
    jsonSchema,
    validate: (value) => ({ success: true, value }),
    '~standard': {
      version: 1,
      vendor: 'nacre',
      validate: (value) => ({ value }),
      jsonSchema: { input: () => jsonSchema, output: () => jsonSchema },
    },
  };
}

/** The fields from which LangChain makes a `DynamicStructuredTool`; the whole result is the message's artifact. */
export function toLangChainTool(tool: FunctionTool, context: ExecutionContext = {}) {
  return {
    name: tool.name,
    description: tool.description,
    schema: tool.inputSchema(),
    responseFormat: 'content_and_artifact' as const,
    async func(
      input: unknown,
      _runManager?: unknown,
      config?: { readonly signal?: AbortSignal | undefined },
    ): Promise<[content: string, artifact: ToolResult]> {
      const result = await call(tool, input, context, config?.signal);
      return [toText(result), result];
    },
  };
}

function call(
  tool: FunctionTool,
  input: unknown,
  context: ExecutionContext,
  signal: AbortSignal | undefined,
): Promise<ToolResult> {
  const signals = [context.signal, signal].filter((one) => one !== undefined);
  return tool.run(fromModel(tool.inputSchema(), input), {
    ...context,
    ...(signals.length > 0 && { signal: AbortSignal.any(signals) }),
  });
}
