import type { ToolResult } from '../../../contract/tool-result.ts';
import type { JsonSchema } from '../../../tools/define-tool.ts';
import { fromModel } from '../../../tools/from-model.ts';
import type { ExecutionContext } from '../execution-context.ts';
import { type FunctionTool, toText } from '../function-tool.ts';

// The AI SDK knows a JSON Schema by this mark, which its `jsonSchema()` sets as well.
const aiSdkSchema: unique symbol = Symbol.for('vercel.ai.schema') as never;

/** A tool as the AI SDK's `tool()` makes one. */
export interface AiSdkTool {
  readonly description: string;
  readonly inputSchema: {
    readonly [aiSdkSchema]: true;
    readonly jsonSchema: JsonSchema;
    validate(value: unknown): { readonly success: true; readonly value: unknown };
  };
  execute(input: unknown, options?: { readonly abortSignal?: AbortSignal | undefined }): Promise<ToolResult>;
}

/** A tool for the AI SDK, which calls it by itself. The tool answers bad input, so that the model can correct it. */
export function toAiSdkTool(tool: FunctionTool, context: ExecutionContext = {}): AiSdkTool {
  return {
    description: tool.description,
    inputSchema: {
      [aiSdkSchema]: true,
      jsonSchema: tool.inputSchema(),
      validate: (value) => ({ success: true, value }),
    },
    execute: (input, { abortSignal } = {}) => call(tool, input, context, abortSignal),
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
