import { nameTools } from '../../support/name-tools.ts';
import type { SchemaField } from './schema-field.ts';
import type { Tool, ToolSchema } from './tool.ts';

/** A tool whose name, and every tool name in its texts, begins with a prefix. */
export function prefixTool(tool: Tool, prefix: string): Tool {
  if (prefix === '') return tool;
  return {
    ...tool,
    name: `${prefix}${tool.name}`,
    description: nameTools(prefix, tool.description),
    inputSchema: () => nameInSchema(tool.inputSchema(), prefix),
    outputSchema: () => nameInSchema(tool.outputSchema(), prefix),
    call: (input, context) => tool.call(input, { ...context, toolPrefix: prefix }),
  };
}

function nameInSchema(schema: ToolSchema, prefix: string): ToolSchema {
  const { properties = {} } = schema as { properties?: Readonly<Record<string, SchemaField>> };
  const named = Object.entries(properties).map(([name, field]) => {
    const { description } = field;
    return [
      name,
      typeof description === 'string' ? { ...field, description: nameTools(prefix, description) } : field,
    ];
  });
  return { ...schema, properties: Object.fromEntries(named) };
}
