import type { Tool } from '../../src/tools/common/tool.ts';
import { describeTools } from './describe-tools.ts';
import { code, fence, table } from './markdown.ts';
import { type Schema, toRows } from './schema-rows.ts';
import { toolExamples } from './tool-examples.ts';

/** docs/reference/tools.md, from what the server tells clients, with examples that a test runs. */
export function toToolsPage(): string {
  const families = Object.entries(describeTools()).map(([family, tools]) =>
    [`## Family \`${family}\``, ...tools.map(toSection)].join('\n\n'),
  );
  return `${[introduction, ...families].join('\n\n')}\n`;
}

const introduction = `# Tools

<!-- Written by scripts/generate-docs.mjs from the declarations in the code. -->

What agents can call over [MCP](../guide/agents.md), programs [in process](../guide/functions.md) and apps over
[HTTP](http.md). The setting [\`tools\`](settings.md#tools) says which families are offered. A field without \`required\` may
be left out. Replies are shown as a model reads them; the same comes as data, in the fields of the output. Calls that
are refused or fail answer as [errors](errors.md) tells.`;

function toSection(tool: Tool): string {
  const examples = toolExamples.filter((example) => example.tool === tool.name);
  const output = Object.keys(tool.outputSchema().properties as object).map(code);
  const input = toRows(tool.inputSchema() as unknown as Schema);
  return [
    `### ${tool.name}`,
    fence('text', tool.description),
    ...(input.length === 0 ? ['Takes nothing.'] : [table(['input', 'type', 'unset', 'meaning'], input)]),
    `Output: ${output.join(', ')}. Annotations: ${toAnnotations(tool)}.`,
    ...examples.flatMap(({ input: given, reply }) => [
      fence('json', JSON.stringify(given)),
      fence('text', reply === '' ? '(nothing: the command printed nothing)' : reply),
    ]),
  ].join('\n\n');
}

function toAnnotations({ annotations }: Tool): string {
  const words = Object.entries(annotations).map(([name, value]) => `${name.replace('Hint', '')} ${value}`);
  return words.join(', ');
}
