import type { ReplyShape } from '../contract/reply.ts';
import type { Tool } from '../tools/common/tool.ts';

/** The parts of a tool that MCP lists; a tool registered by a program may have only name, description and schema. */
export type ListedTool = Pick<Tool, 'name' | 'description' | 'inputSchema'> &
  Partial<Pick<Tool, 'title' | 'outputSchema' | 'annotations'>>;

/** A tool as an entry of `tools/list`. Replies of the shape `text` have no data, so the tool must not promise any. */
export function toMcpTool(tool: ListedTool, shape: ReplyShape = 'both') {
  const { name, title, description, annotations } = tool;
  return {
    name,
    ...(title !== undefined && { title }),
    description,
    inputSchema: tool.inputSchema(),
    ...(tool.outputSchema && shape !== 'text' && { outputSchema: tool.outputSchema() }),
    ...(annotations && { annotations }),
  };
}
