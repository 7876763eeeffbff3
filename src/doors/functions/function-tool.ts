import type { ToolResult } from '../../contract/tool-result.ts';
import type { Tool, ToolReply } from '../../tools/define-tool.ts';
import type { ListedTool } from '../to-mcp-tool.ts';
import { type ExecutionContext, toToolContext } from './execution-context.ts';

/** A tool that a program calls; programs may bring along their own. */
export interface FunctionTool<Input = unknown> extends ListedTool {
  /** What it is for; all of nacre's own are for `execution`. */
  readonly category: string;
  /** Answers any input: what is wrong with it is a failed result. */
  run(input: Input, context?: ExecutionContext): Promise<ToolResult>;
}

/** Offers one of nacre's own tools to the program that nacre is part of; commands that go on belong to the owner. */
export function toFunctionTool(tool: Tool, owner: string): FunctionTool {
  const { call, ...listed } = tool;
  return {
    ...listed,
    category: 'execution',
    run: async (input, context = {}) => toResult(await call(input, { ...toToolContext(context), owner })),
  };
}

function toResult({ result, text, structured, isError, meta }: ToolReply): ToolResult {
  if (result !== undefined) return result;
  const { error = text } = structured as { error?: string };
  return { success: !isError, output: text, ...(isError && { error }), metadata: { ...structured, ...meta } };
}

/** What a model should read of a result: its output, and what went wrong where the output does not say it. */
export function toText({ output, error }: ToolResult): string {
  if (error === undefined || output.includes(error)) return output;
  return output === '' ? error : `${output.replace(/\n$/, '')}\n${error}`;
}
