import type { Tool } from '../tools/common/tool.ts';

/** The parts of a tool that MCP lists; a tool registered by a program may have only name, description and schema. */
export type ListedTool = Pick<Tool, 'name' | 'description' | 'inputSchema'> &
  Partial<Pick<Tool, 'title' | 'outputSchema' | 'annotations'>>;

/** A tool as an entry of `tools/list`. */
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
