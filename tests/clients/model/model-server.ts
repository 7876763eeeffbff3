// A model that follows a script, for real clients:
// 1. a client posts the conversation over one of the `protocols`,
// 2. requests that offer none of the tools under test (titles, summaries, checks of the key) are answered with a word,
// 3. every other request is given to `next`, which sees the results so far and returns the next call.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { anthropicMessages } from './anthropic-messages.ts';
import { gemini } from './gemini.ts';
import { openaiChat } from './openai-chat.ts';
import { openaiResponses } from './openai-responses.ts';
import { type Body, isObject, type ModelProtocol, type ModelRequest, type ModelTurn } from './protocol.ts';

/** Chooses the answer to a request. */
export type Next = (request: ModelRequest, body: Body) => ModelTurn | Promise<ModelTurn>;

/** A model on loopback. */
export interface ModelServer {
  /** Its address, without a path. */
  readonly url: string;
  /** The paths of all requests so far, for messages of failed tests. */
  readonly paths: readonly string[];
  close(): Promise<void>;
}

const protocols: readonly ModelProtocol[] = [anthropicMessages, openaiResponses, openaiChat, gemini];

/** Starts a model on a free port of loopback. */
export async function startModel(next: Next): Promise<ModelServer> {
  const paths: string[] = [];
  const server = createServer((request, response) => {
    paths.push(`${request.method} ${request.url}`);
    answer(next, request, response).catch((error) => {
      paths.push(`failed: ${error}`);
      response.destroy();
    });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    paths,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function answer(next: Next, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await readBody(request);
  const path = request.url ?? '';
  const protocol = protocols.find((one) => one.path.test(path));
  if (request.method !== 'POST' || protocol === undefined) {
    response.writeHead(path.includes('/models') ? 200 : 404, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ object: 'list', data: [], models: [] }));
    return;
  }
  const turn = await next(protocol.read(body), body);
  if (protocol.isStream(path, body)) {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const event of protocol.stream(turn, body)) response.write(event);
    response.end();
  } else {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(protocol.answer(turn, body)));
  }
}

async function readBody(request: IncomingMessage): Promise<Body> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  try {
    const body: unknown = JSON.parse(Buffer.concat(chunks).toString());
    return isObject(body) ? body : {};
  } catch {
    return {};
  }
}
