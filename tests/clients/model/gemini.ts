import { type Body, isObject, type ModelProtocol, type ModelTurn, objectsIn, toEvent } from './protocol.ts';

/** Google's generateContent and streamGenerateContent. */
export const gemini: ModelProtocol = {
  path: /:(?:streamGenerateContent|generateContent)(?:\?|$)/,
  isStream: (path) => path.includes(':streamGenerateContent'),
  read: (body) => ({
    tools: objectsIn(body.tools).flatMap(({ functionDeclarations }) =>
      objectsIn(functionDeclarations).map(({ name }) => String(name)),
    ),
    results: objectsIn(body.contents)
      .flatMap(({ parts }) => objectsIn(parts))
      .map(({ functionResponse }) => functionResponse)
      .filter(isObject)
      .map(toResult),
  }),
  answer: toAnswer,
  stream: (turn, body) => [toEvent(toAnswer(turn, body))],
};

function toResult({ id, response }: Body) {
  const { output, error } = isObject(response) ? response : {};
  const text = output ?? error ?? response;
  return {
    callId: typeof id === 'string' ? id : undefined,
    text: typeof text === 'string' ? text : JSON.stringify(text),
    isError: error !== undefined,
  };
}

function toAnswer(turn: ModelTurn, { model }: Body): Body {
  const part =
    turn.kind === 'text'
      ? { text: turn.text }
      : { functionCall: { id: turn.id, name: turn.name, args: turn.args } };
  return {
    candidates: [{ index: 0, content: { role: 'model', parts: [part] }, finishReason: 'STOP' }],
    usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 10, totalTokenCount: 20 },
    modelVersion: model,
  };
}
