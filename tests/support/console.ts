import { once } from 'node:events';
import { WebSocket } from 'ws';
import { type ConsoleFrame, type ConsoleMessage, fromOutputFrame } from '../../src/contract/console.ts';
import type { TestServer } from './http.ts';
import { takeLink } from './http.ts';
import { sleep } from './nacre.ts';

/** Signs a page in and returns its cookie. */
export async function signIn(
  server: Pick<TestServer, 'address' | 'post'>,
  page: { role?: 'operator' | 'viewer'; name?: string } = {},
): Promise<string> {
  const { body } = await server.post('/api/link', page);
  const reply = await takeLink(server.address, String(body.link));
  return reply.headers.get('set-cookie')?.split(';')[0] ?? '';
}

/** The headers that a browser sends with a page's request. */
export function pageHeaders(
  { address }: Pick<TestServer, 'address'>,
  cookie: string,
): Record<string, string> {
  return { Cookie: cookie, Origin: address };
}

/** Opens the console's socket and collects messages and frames; acknowledges output unless told otherwise. */
export async function openConsole(
  { address }: Pick<TestServer, 'address'>,
  headers: Record<string, string>,
  { acks = true } = {},
) {
  const socket = new WebSocket(`${address.replace('http', 'ws')}/api/console`, { headers });
  const messages: ConsoleMessage[] = [];
  const frames: ConsoleFrame[] = [];
  const send = (message: object) => socket.send(JSON.stringify(message));
  socket.on('message', (data, isBinary) => {
    if (!isBinary) return void messages.push(JSON.parse(String(data)));
    const frame = fromOutputFrame(data as Buffer);
    if (frame === undefined) throw new Error('A binary frame is not valid.');
    frames.push(frame);
    if (acks) send({ type: 'ack', channel: frame.channel, cursor: frame.cursor });
  });
  await once(socket, 'open');
  const until = async <Found extends ConsoleMessage>(
    isIt: (message: ConsoleMessage) => message is Found,
    limitMs = 60_000,
  ): Promise<Found> => {
    for (let waited = 0; waited < limitMs; waited += 5) {
      const found = messages.find(isIt);
      if (found) return found;
      await sleep(5);
    }
    throw new Error(`The message did not arrive. Received: ${JSON.stringify(messages).slice(0, 2_000)}`);
  };
  return {
    socket,
    messages,
    frames,
    send,
    until,
    text: (channel: number) =>
      Buffer.concat(frames.filter((one) => one.channel === channel).map(({ bytes }) => bytes)).toString(),
    async close() {
      socket.close();
      if (socket.readyState !== WebSocket.CLOSED) await once(socket, 'close');
    },
  };
}

/** Whether a message is of this type. */
export const isType =
  <Type extends ConsoleMessage['type']>(type: Type) =>
  (message: ConsoleMessage): message is Extract<ConsoleMessage, { type: Type }> =>
    message.type === type;
