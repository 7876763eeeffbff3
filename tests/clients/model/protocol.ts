/** The result of a tool call, as a client posts it to the model. */
export interface ModelResult {
  /** The id of the call, if the protocol has one. */
  readonly callId: string | undefined;
  /** All text of the result, in the order in which the model reads it. */
  readonly text: string;
  /** Whether the protocol marks it as an error; undefined if the protocol has no mark. */
  readonly isError: boolean | undefined;
}

/** A request to the model, in the words that all protocols share. */
export interface ModelRequest {
  /** The names of the tools that the model may call. */
  readonly tools: readonly string[];
  /** The results of all calls in the conversation, oldest first. */
  readonly results: readonly ModelResult[];
}

/** The answer of the model: a tool call, or text, which ends its turn. */
export type ModelTurn =
  | { readonly kind: 'call'; readonly id: string; readonly name: string; readonly args: object }
  | { readonly kind: 'text'; readonly text: string };

/** A parsed JSON body. */
export type Body = Readonly<Record<string, unknown>>;

/** One API over which clients talk to a model. */
export interface ModelProtocol {
  /** Matches the path of its requests. */
  readonly path: RegExp;
  read(body: Body): ModelRequest;
  /** The events of a streamed answer, as lines of an event stream. */
  stream(turn: ModelTurn, body: Body): readonly string[];
  /** The answer to a request that does not stream. */
  answer(turn: ModelTurn, body: Body): unknown;
  /** Whether a request asks for a stream. */
  isStream(path: string, body: Body): boolean;
}

/** The members of a value that are objects; none for a value that is not a list. */
export function objectsIn(value: unknown): readonly Body[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** Whether a value is a JSON object. */
export function isObject(value: unknown): value is Body {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

/** The text of a value: itself, or that of the text parts in a list; other parts as JSON. */
export function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  if (!Array.isArray(value)) return value === undefined ? '' : JSON.stringify(value);
  return value
    .map((part) => (isObject(part) && typeof part.text === 'string' ? part.text : JSON.stringify(part)))
    .join('\n');
}

/** An event with a JSON body, in the format of an event stream. */
export function toEvent(data: Body, type?: string): string {
  return `${type === undefined ? '' : `event: ${type}\n`}data: ${JSON.stringify(data)}\n\n`;
}
