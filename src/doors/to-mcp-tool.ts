import type { Tool } from '../tools/common/tool.ts';

/** What of a tool MCP shows; one that a program brings along may have no more than a name, words and a schema. */
export type ListedTool = Pick<Tool, 'name' | 'description' | 'inputSchema'> &
  Partial<Pick<Tool, 'title' | 'outputSchema' | 'annotations'>>;

/** A tool as `tools/list` shows it. */
export function toMcpTool(tool: ListedTool) {
  const { name, title, description, annotations } = tool;
  return {
    name,
    ...(title !== undefined && { title }),
    description,
    inputSchema: tool.inputSchema(),
    ...(tool.outputSchema && { outputSchema: tool.outputSchema() }),
    ...(annotations && { annotations }),
  };
}
