import type { ToolResult } from '../../contract/tool-result.ts';
import { fromModel } from '../../tools/common/define-tool.ts';
import type { ToolSchema } from '../../tools/common/tool.ts';
import type { ExecutionContext } from './execution-context.ts';
import { type FunctionTool, toText } from './function-tool.ts';

// The AI SDK recognises a JSON Schema by this symbol, which its `jsonSchema()` sets as well. Its types use a `unique symbol`
// that we cannot name, so `~standard` is what makes `AiSdkSchema` type-check there.
const aiSdkSchema: unique symbol = Symbol.for('vercel.ai.schema') as never;

/** A tool's input schema for the AI SDK; `validate` accepts anything, because the tool validates its input. */
export interface AiSdkSchema {
  readonly [aiSdkSchema]: true;
  readonly jsonSchema: ToolSchema;
  validate(value: unknown): { readonly success: true; readonly value: unknown };
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: 'nacre';
    validate(value: unknown): { readonly value: unknown };
    readonly jsonSchema: { input(): ToolSchema; output(): ToolSchema };
  };
}

/** A tool in the shape that the AI SDK's `tool()` returns. */
export interface AiSdkTool {
  readonly description: string;
  readonly inputSchema: AiSdkSchema;
  execute(input: unknown, options?: { readonly abortSignal?: AbortSignal | undefined }): Promise<ToolResult>;
}

/** Converts a tool for the AI SDK, which calls `execute`; invalid input gets a result that the model can read. */
export function toAiSdkTool(tool: FunctionTool, context: ExecutionContext = {}): AiSdkTool {
  return {
    description: tool.description,
    inputSchema: toAiSdkSchema(tool.inputSchema()),
    execute: (input, { abortSignal } = {}) => runTool(tool, input, context, abortSignal),
  };
}

function toAiSdkSchema(jsonSchema: ToolSchema): AiSdkSchema {
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

/** Returns the fields of a LangChain `DynamicStructuredTool`; the `ToolResult` becomes the message's artifact. */
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
      const result = await runTool(tool, input, context, config?.signal);
      return [toText(result), result];
    },
  };
}

function runTool(
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
