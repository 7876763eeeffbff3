import type { ToolResult } from '../../contract/tool-result.ts';
import { nextTurn } from '../../support/timing.ts';
import type { Tool, ToolReply } from '../../tools/common/tool.ts';
import type { ListedTool } from '../to-mcp-tool.ts';
import { ToolCategory } from './constants.ts';
import { type ExecutionContext, toToolContext } from './execution-context.ts';

/** A tool that a program calls; programs can add their own with `ToolRegistry.register`. */
export interface FunctionTool<Input = unknown, Result = ToolResult> extends ListedTool {
  /** Category of the tool; `execution` for all of nacre's own. */
  readonly category: string;
  /** Returns a failed result for invalid input; does not reject. */
  run(input: Input, context?: ExecutionContext): Promise<Result>;
}

/** Wraps one of nacre's tools for in-process callers; the commands it starts belong to `owner`. */
export function toFunctionTool(tool: Tool, owner: string): FunctionTool {
  const { call, ...listed } = tool;
  return {
    ...listed,
    category: ToolCategory.EXECUTION,
    async run(input, context = {}) {
      const reply = await call(input, { ...toToolContext(context), owner });
      await nextTurn();
      return toResult(reply);
    },
  };
}

/** Like `toFunctionTool`, with results in the shape of the tool's own specification if it defines one. */
export function withOwnResult(tool: Tool, owner: string): FunctionTool<unknown, object> {
  return {
    ...toFunctionTool(tool, owner),
    async run(input, context = {}) {
      const reply = await tool.call(input, { ...toToolContext(context), owner });
      await nextTurn();
      return reply.ownResult ?? toResult(reply);
    },
  };
}

function toResult({ result, text, structured, isError, meta }: ToolReply): ToolResult {
  if (result !== undefined) return result;
  const { error = text } = structured as { error?: string };
  return { success: !isError, output: text, ...(isError && { error }), metadata: { ...structured, ...meta } };
}

/** Converts a result into text for a model: `output`, and `error` unless the output contains it. */
export function toText({ output, error }: ToolResult): string {
  if (error === undefined || output.includes(error)) return output;
  return output === '' ? error : `${output.replace(/\n$/, '')}\n${error}`;
}
