import type { Tool } from '../../tools/define-tool.ts';

/** The tools as `tools/list` shows them. */
export function listTools(tools: readonly Tool[]) {
  return tools.map((tool) => ({
    name: tool.name,
    title: tool.title,
    description: tool.description,
    inputSchema: tool.inputSchema(),
    outputSchema: tool.outputSchema(),
    annotations: tool.annotations,
  }));
}
