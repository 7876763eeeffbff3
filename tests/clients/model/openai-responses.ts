import { type Body, type ModelProtocol, type ModelTurn, objectsIn, textOf, toEvent } from './protocol.ts';

/** OpenAI's Responses API. */
export const openaiResponses: ModelProtocol = {
  path: /\/responses(?:\?|$)/,
  isStream: (_path, body) => body.stream === true,
  read: (body) => ({
    tools: objectsIn(body.tools).flatMap(namesOf),
    results: objectsIn(body.input)
      .filter(({ type }) => type === 'function_call_output' || type === 'mcp_tool_call_output')
      .map(({ call_id, output }) => ({ callId: String(call_id), text: textOf(output), isError: undefined })),
  }),
  answer: (turn, body) => envelope(body, 'completed', [toItem(turn)]),
  stream(turn, body) {
    const item = toItem(turn);
    const events: readonly Body[] = [
      { type: 'response.created', response: envelope(body, 'in_progress', []) },
      { type: 'response.output_item.added', output_index: 0, item: { ...item, ...unfinished(turn) } },
      ...deltas(turn),
      { type: 'response.output_item.done', output_index: 0, item },
      { type: 'response.completed', response: envelope(body, 'completed', [item]) },
    ];
    return events.map((event, sequence_number) => toEvent({ ...event, sequence_number }, String(event.type)));
  },
};

// A namespace is a group of tools, such as those of one MCP server.
function namesOf(tool: Body): readonly string[] {
  if (tool.type !== 'namespace') return [String(tool.name ?? tool.type)];
  return objectsIn(tool.tools).map(({ name }) => `${tool.name}${separator}${name}`);
}

/** Between the namespace and the name of a tool in `ModelRequest.tools`. */
const separator = '//';

function toItem(turn: ModelTurn): Body {
  if (turn.kind === 'text') {
    const content = [{ type: 'output_text', text: turn.text, annotations: [] }];
    return { type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content };
  }
  const [name = '', namespace] = turn.name.split(separator).reverse();
  const { id, args } = turn;
  return {
    type: 'function_call',
    id: `fc_${id}`,
    call_id: id,
    name,
    ...(namespace !== undefined && { namespace }),
    arguments: JSON.stringify(args),
    status: 'completed',
  };
}

function unfinished(turn: ModelTurn): Body {
  return turn.kind === 'text'
    ? { content: [], status: 'in_progress' }
    : { arguments: '', status: 'in_progress' };
}

function deltas(turn: ModelTurn): readonly Body[] {
  if (turn.kind === 'call') {
    const place = { item_id: `fc_${turn.id}`, output_index: 0 };
    const text = JSON.stringify(turn.args);
    return [
      { type: 'response.function_call_arguments.delta', ...place, delta: text },
      { type: 'response.function_call_arguments.done', ...place, arguments: text },
    ];
  }
  const place = { item_id: 'msg_1', output_index: 0, content_index: 0 };
  const part = { type: 'output_text', annotations: [] };
  return [
    { type: 'response.content_part.added', ...place, part: { ...part, text: '' } },
    { type: 'response.output_text.delta', ...place, delta: turn.text },
    { type: 'response.output_text.done', ...place, text: turn.text },
    { type: 'response.content_part.done', ...place, part: { ...part, text: turn.text } },
  ];
}

function envelope({ model }: Body, status: string, output: readonly Body[]): Body {
  const usage = {
    input_tokens: 10,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: 10,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 20,
  };
  return { id: 'resp_1', object: 'response', created_at: 1_700_000_000, status, model, output, usage };
}
