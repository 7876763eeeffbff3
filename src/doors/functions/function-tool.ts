import type { ToolResult } from '../../contract/tool-result.ts';
import type { Tool, ToolReply } from '../../tools/define-tool.ts';
import type { ListedTool } from '../to-mcp-tool.ts';
import { type ExecutionContext, toToolContext } from './execution-context.ts';

/** A tool that a program calls; programs may bring along their own. */
export interface FunctionTool<Input = unknown, Result = ToolResult> extends ListedTool {
  /** What it is for; all of nacre's own are for `execution`. */
  readonly category: string;
  /** Answers any input: what is wrong with it is a failed result. */
  run(input: Input, context?: ExecutionContext): Promise<Result>;
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

/** The same tool with results in the form of its own specification, where it has one. */
export function toOwnForm(tool: Tool, owner: string): FunctionTool<unknown, object> {
  return {
    ...toFunctionTool(tool, owner),
    async run(input, context = {}) {
      const reply = await tool.call(input, { ...toToolContext(context), owner });
      return reply.ownResult ?? toResult(reply);
    },
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
