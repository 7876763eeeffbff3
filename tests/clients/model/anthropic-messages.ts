import { type Body, type ModelProtocol, type ModelTurn, objectsIn, textOf, toEvent } from './protocol.ts';

/** Anthropic's Messages API. */
export const anthropicMessages: ModelProtocol = {
  path: /\/v1\/messages(?:\?|$)/,
  isStream: (_path, body) => body.stream === true,
  read(body) {
    const blocks = objectsIn(body.messages).flatMap(({ content }) => objectsIn(content));
    return {
      tools: objectsIn(body.tools).map(({ name }) => String(name)),
      results: blocks
        .filter(({ type }) => type === 'tool_result')
        .map(({ tool_use_id, content, is_error }) => ({
          callId: String(tool_use_id),
          text: textOf(content),
          isError: is_error === true,
        })),
    };
  },
  answer: (turn, body) => ({ ...envelope(body), content: [toBlock(turn)], stop_reason: stopReason(turn) }),
  stream: (turn, body) => [
    named({ type: 'message_start', message: { ...envelope(body), content: [], stop_reason: null } }),
    ...blockEvents(turn).map(named),
    named({
      type: 'message_delta',
      delta: { stop_reason: stopReason(turn), stop_sequence: null },
      usage: { output_tokens: 10 },
    }),
    named({ type: 'message_stop' }),
  ],
};

function blockEvents(turn: ModelTurn): Body[] {
  const [start, delta] =
    turn.kind === 'text'
      ? [
          { type: 'text', text: '' },
          { type: 'text_delta', text: turn.text },
        ]
      : [
          { type: 'tool_use', id: turn.id, name: turn.name, input: {} },
          { type: 'input_json_delta', partial_json: JSON.stringify(turn.args) },
        ];
  return [
    { type: 'content_block_start', index: 0, content_block: start },
    { type: 'content_block_delta', index: 0, delta },
    { type: 'content_block_stop', index: 0 },
  ];
}

function toBlock(turn: ModelTurn): Body {
  return turn.kind === 'text'
    ? { type: 'text', text: turn.text }
    : { type: 'tool_use', id: turn.id, name: turn.name, input: turn.args };
}

function stopReason({ kind }: ModelTurn): string {
  return kind === 'text' ? 'end_turn' : 'tool_use';
}

function envelope({ model }: Body): Body {
  const usage = { input_tokens: 10, output_tokens: 1 };
  return { id: 'msg_1', type: 'message', role: 'assistant', model, stop_sequence: null, usage };
}

function named(data: Body): string {
  return toEvent(data, String(data.type));
}
