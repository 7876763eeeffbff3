import { once } from 'node:events';
import { WebSocket } from 'ws';
import { z } from 'zod';
import { serverMessages } from '../../src/doors/http/stream/messages.ts';
import { sleep } from './nacre.ts';

/** A message from the server. */
export type Message = Readonly<Record<string, unknown>> & { readonly type: string; readonly id: string };

/** Opens a WebSocket to `/api/shell/stream` and collects all messages. */
export async function openSocket(address: string, headers: Record<string, string>) {
  const socket = new WebSocket(`${address.replace('http', 'ws')}/api/shell/stream`, { headers });
  const messages: Message[] = [];
  socket.on('message', (data) => messages.push(checked(JSON.parse(String(data)))));
  await once(socket, 'open');
  const send = (message: object) => socket.send(JSON.stringify(message));
  const until = async (isIt: (message: Message) => boolean, limitMs = 15_000): Promise<Message> => {
    for (let waited = 0; waited < limitMs; waited += 10) {
      const found = messages.find(isIt);
      if (found) return found;
      await sleep(10);
    }
    throw new Error(
      `The expected message did not arrive. Received: ${JSON.stringify(messages).slice(0, 2_000)}`,
    );
  };
  const of = (id: string, type: string) => messages.filter((one) => one.id === id && one.type === type);
  return {
    socket,
    messages,
    send,
    until,
    of,
    text: (id: string, stream = 'stdout') =>
      of(id, `shell.${stream}`)
        .map(({ data }) => data)
        .join(''),
    exit: (id: string) => until((one) => one.id === id && one.type === 'shell.exit'),
    error: () => until((one) => one.type === 'shell.error'),
    async close() {
      socket.close();
      if (socket.readyState !== WebSocket.CLOSED) await once(socket, 'close');
    },
  };
}

// Every message has to match the schema that /docs shows.
function checked(message: Message): Message {
  const { type, ...fields } = message;
  const schemas: Readonly<Record<string, z.ZodType>> = serverMessages;
  const { success, error } = (schemas[type] ?? z.never()).safeParse(fields);
  if (!success) throw new Error(`${JSON.stringify(message).slice(0, 500)}: ${error.message}`);
  return message;
}

/** The HTTP status with which the server refuses to open a WebSocket. */
export async function refusalOf(address: string, headers: Record<string, string>): Promise<number> {
  const socket = new WebSocket(`${address.replace('http', 'ws')}/api/shell/stream`, { headers });
  socket.on('error', () => {});
  const [, response] = await once(socket, 'unexpected-response');
  socket.terminate();
  return response.statusCode;
}
