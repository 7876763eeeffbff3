import type { ReplyShape } from '../../contract/reply.ts';
import { isMap, type SchemaField } from '../../tools/common/schema-field.ts';
import type { Tool, ToolSchema } from '../../tools/common/tool.ts';
import { toMcpTool } from '../to-mcp-tool.ts';

/** A tool as an entry of `tools/list` for models: limits are also in the description, and no schema has free keys. */
export function toListedTool(tool: Omit<Tool, 'call'>, shape: ReplyShape) {
  const listed = toMcpTool(tool, shape);
  return {
    ...listed,
    inputSchema: toListedSchema(listed.inputSchema),
    // Claude Code loads tools on demand; while these are not loaded, models use its own shell.
    ...(tool.alwaysLoad && { _meta: { 'anthropic/alwaysLoad': true } }),
  };
}

function toListedSchema(schema: ToolSchema): ToolSchema {
  const { properties = {} } = schema as { properties?: Readonly<Record<string, SchemaField>> };
  const fields = Object.entries(properties).map(([name, field]) => [name, toListedField(field)]);
  return { ...schema, properties: Object.fromEntries(fields) };
}

// Strict modes reject maps; `fromModel` converts `NAME=value` strings back and still accepts a map.
function toListedField(field: SchemaField): SchemaField {
  const { description } = field;
  if (isMap(field)) return { type: 'array', items: { type: 'string' }, description: inPairs(description) };
  const words = [description, inWords(field)].filter((part) => part !== undefined && part !== '').join('; ');
  return words === '' ? field : { ...field, description: words };
}

function inPairs(description: unknown): string {
  return typeof description === 'string' ? `NAME=value strings: ${description}` : 'NAME=value strings';
}

// Limits from here on are not listed, because no call reaches them.
const unreachableLimit = 1_000_000_000;

// Some clients drop these keywords.
function inWords({ minimum, maximum, default: standard, description }: SchemaField): string {
  const isSaid = (word: string) => typeof description === 'string' && description.includes(word);
  const hasRange = minimum !== undefined && Number(maximum) < unreachableLimit && !isSaid('max');
  const hasDefault = ![undefined, false, ''].includes(standard as undefined) && !isSaid('default');
  return [hasRange && `${minimum} to ${maximum}`, hasDefault && `default ${standard}`]
    .filter(Boolean)
    .join(', ');
}
