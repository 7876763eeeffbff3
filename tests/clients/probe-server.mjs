// An MCP server over stdio whose one tool answers with marks, to see which parts of a result a client passes on to its model.
// It appends the messages that it receives to the file in its first argument.
import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const [, , log] = process.argv;
const tool = {
  name: 'probe',
  description: 'Answers with marks.',
  inputSchema: { type: 'object', properties: { kind: { type: 'string' } }, required: ['kind'] },
};
const outputSchema = { type: 'object', properties: { mark: { type: 'string' } }, required: ['mark'] };
// Clients cut long results in the middle or at the end, so both have a mark.
const long = (line, count) =>
  [line.repeat(Math.floor(count / 2)), line.repeat(Math.ceil(count / 2))]
    .join('MARK_MIDDLE\n')
    .concat('MARK_END');
const kinds = {
  both: () => ({
    content: text('MARK_TEXT'),
    structuredContent: { mark: 'MARK_DATA' },
    _meta: { note: 'MARK_META' },
  }),
  error: () => ({ content: text('MARK_TEXT'), isError: true }),
  'error-both': () => ({
    content: text('MARK_TEXT'),
    structuredContent: { mark: 'MARK_DATA' },
    isError: true,
  }),
  chars: (count) => ({ content: text(long(`${'x'.repeat(79)}\n`, Math.floor((count - 21) / 80))) }),
  lines: (count) => ({ content: text(long('x\n', count - 2)) }),
};

function text(value) {
  return [{ type: 'text', text: value }];
}

const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'probe', version: '1.0.0' },
  }),
  'tools/list': () => ({ tools: [tool, { ...tool, name: 'probe_data', outputSchema }] }),
  'tools/call': ({ arguments: { kind } }) => {
    const [name, count] = kind.split(':');
    return kinds[name](Number(count));
  },
  ping: () => ({}),
};

for await (const line of createInterface({ input: process.stdin })) {
  appendFileSync(log, `${line}\n`);
  const { id, method, params } = JSON.parse(line);
  if (id === undefined || method === undefined) continue;
  const answer = answers[method];
  const reply =
    answer === undefined
      ? { error: { code: -32_601, message: `Method not found: ${method}` } }
      : { result: answer(params ?? {}) };
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...reply })}\n`);
}
