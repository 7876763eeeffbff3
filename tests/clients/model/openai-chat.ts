import {
  type Body,
  isObject,
  type ModelProtocol,
  type ModelTurn,
  objectsIn,
  textOf,
  toEvent,
} from './protocol.ts';

/** OpenAI's Chat Completions API. */
export const openaiChat: ModelProtocol = {
  path: /\/chat\/completions(?:\?|$)/,
  isStream: (_path, body) => body.stream === true,
  read: (body) => ({
    tools: objectsIn(body.tools).map((tool) =>
      String(isObject(tool.function) ? tool.function.name : tool.name),
    ),
    results: objectsIn(body.messages)
      .filter(({ role }) => role === 'tool')
      .map(({ tool_call_id, content }) => ({
        callId: String(tool_call_id),
        text: textOf(content),
        isError: undefined,
      })),
  }),
  answer: (turn, body) => ({
    ...envelope(body, 'chat.completion'),
    choices: [{ index: 0, message: { role: 'assistant', ...toMessage(turn) }, finish_reason: finish(turn) }],
    usage,
  }),
  stream(turn, body) {
    const chunk = (delta: Body, finish_reason: string | null) =>
      toEvent({ ...envelope(body, 'chat.completion.chunk'), choices: [{ index: 0, delta, finish_reason }] });
    return [
      chunk({ role: 'assistant', ...toMessage(turn) }, null),
      chunk({}, finish(turn)),
      toEvent({ ...envelope(body, 'chat.completion.chunk'), choices: [], usage }),
      'data: [DONE]\n\n',
    ];
  },
};

const usage = { prompt_tokens: 10, completion_tokens: 10, total_tokens: 20 };

function toMessage(turn: ModelTurn): Body {
  if (turn.kind === 'text') return { content: turn.text };
  const called = { name: turn.name, arguments: JSON.stringify(turn.args) };
  return { content: null, tool_calls: [{ index: 0, id: turn.id, type: 'function', function: called }] };
}

function finish({ kind }: ModelTurn): string {
  return kind === 'text' ? 'stop' : 'tool_calls';
}

function envelope({ model }: Body, object: string): Body {
  return { id: 'chatcmpl-1', object, created: 1_700_000_000, model };
}
