// One WebSocket of a page, at /api/console: JSON for words, binary frames for output.
// `watch` subscribes to changes, from a token on; `open` sends the output of a command on a channel.
import type { WebSocket } from 'ws';
import { z } from 'zod';
import type { ConsoleMessage } from '../../../contract/console.ts';
import { NacreError, toNacreError } from '../../../contract/failure.ts';
import { type HttpCaller, toCaller } from '../access/callers.ts';
import { type OutputDeps, openOutput } from './command-output.ts';
import type { PageDescription } from './console-endpoints.ts';
import { findCommand } from './find-command.ts';
import { type ConsoleHub, toRow } from './hub.ts';
import { type Observer, observe } from './observe.ts';

/** Dependencies of a page's socket. */
export interface ConsoleSocketDeps extends OutputDeps {
  readonly hub: ConsoleHub;
  readonly describe: (caller: HttpCaller) => PageDescription;
}

const channel = z.int().min(0).max(0xffff_ffff);
const cursor = z.int().min(0).max(Number.MAX_SAFE_INTEGER);
const messages = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('watch'),
    records: z.boolean().optional(),
    after: z.string().max(262_144).optional(),
  }),
  z.strictObject({
    type: z.literal('open'),
    channel,
    command: z.string().max(64),
    from: cursor,
    mode: z.enum(['tail', 'all']),
  }),
  z.strictObject({ type: z.literal('ack'), channel, cursor }),
  z.strictObject({ type: z.literal('close'), channel }),
]);
const maxChannels = 32;
// A page that does not read its socket is closed; it comes back with its token.
const maxBufferedBytes = 16_777_216;

interface Channel {
  readonly stop: AbortController;
  observer?: Observer;
}

/** Serves the socket of one page until it closes. */
export function serveConsole(deps: ConsoleSocketDeps, socket: WebSocket, caller: HttpCaller): void {
  const channels = new Map<number, Channel>();
  const viewed = new Set<string>();
  let unlisten: (() => void) | undefined;
  const send = (message: ConsoleMessage) => {
    if (socket.bufferedAmount > maxBufferedBytes) socket.terminate();
    else socket.send(JSON.stringify(message), () => {});
  };
  const fail = (at: number | null, error: unknown) => {
    const { message, hint } = toNacreError(error);
    send({ type: 'error', channel: at, error: message, ...(hint !== undefined && { hint }) });
  };
  const watch = async ({
    after,
    records = false,
  }: {
    after?: string | undefined;
    records?: boolean | undefined;
  }) => {
    unlisten?.();
    const { hub } = deps;
    const mayAnswer = caller.page?.role === 'operator';
    const now = { ...deps.describe(caller), ...(await hub.snapshot()) };
    const missed = after === undefined ? undefined : await hub.feed.since(after);
    if (socket.readyState !== socket.OPEN) return;
    unlisten?.();
    unlisten = hub.listen({
      mayAnswer,
      onLive: (cards, change) => send({ type: 'live', token: hub.feed.token(), cards, change }),
      onRecords(rows) {
        if (records) send({ type: 'records', token: hub.feed.token(), records: rows });
      },
    });
    send({ type: 'now', token: hub.feed.token(), now });
    if (after !== undefined && missed === undefined) send({ type: 'reset', token: hub.feed.token() });
    if (missed === undefined || missed.length === 0) return;
    const ids = [...new Set(missed.map(({ record }) => record.id))];
    const cards = ids.flatMap((id) => hub.index.get(id) ?? []).map((command) => hub.card(command));
    if (records) send({ type: 'records', token: hub.feed.token(), records: missed.map(toRow) });
    send({ type: 'live', token: hub.feed.token(), cards, change: {} });
  };
  const close = (at: number) => {
    channels.get(at)?.stop.abort();
    channels.delete(at);
  };
  const open = async (message: Extract<z.output<typeof messages>, { type: 'open' }>) => {
    const { channel: at, command: id } = message;
    if (channels.size >= maxChannels || channels.has(at)) throw tooManyChannels(at);
    const own: Channel = { stop: new AbortController() };
    channels.set(at, own);
    const command = await findCommand(deps, id);
    const output = await openOutput(deps, command);
    if (!viewed.has(id)) (await deps.engine()).notePageAct('viewed', toCaller(caller), { id });
    viewed.add(id);
    own.observer = observe(output.read, {
      channel: at,
      from: message.from,
      mode: message.mode,
      signal: own.stop.signal,
      send,
      sendBytes: (frame) => sendBinary(socket, frame),
    });
    await own.observer.done.finally(output.close);
  };
  const handle = (message: z.output<typeof messages>) => {
    if (message.type === 'ack') channels.get(message.channel)?.observer?.ack(message.cursor);
    if (message.type === 'close') close(message.channel);
    if (message.type === 'watch') watch(message).catch((error) => fail(null, error));
    if (message.type !== 'open') return;
    const { channel: at } = message;
    open(message).then(
      () => close(at),
      (error) => {
        close(at);
        fail(at, error);
      },
    );
  };
  socket.on('message', (data, isBinary) => {
    try {
      handle(receiveMessage(String(data), isBinary));
    } catch (error) {
      fail(null, error);
    }
  });
  socket.on('close', () => {
    unlisten?.();
    for (const at of [...channels.keys()]) close(at);
  });
}

function receiveMessage(text: string, isBinary: boolean): z.output<typeof messages> {
  const { data, error } = messages.safeParse(parse(text, isBinary));
  if (data) return data;
  const [issue] = error.issues;
  throw new NacreError(
    'invalid_request',
    `The field ${issue?.path.join('.') || 'type'} is not valid: ${issue?.message}.`,
    {
      hint: 'Types: watch, open, ack, close; docs/guide/console.md lists their fields.',
    },
  );
}

function parse(text: string, isBinary: boolean): unknown {
  try {
    if (!isBinary) return JSON.parse(text);
  } catch {}
  throw new NacreError('invalid_request', 'A message must be a JSON object in a text frame.', {
    hint: 'Send {"type": "watch"}.',
  });
}

function sendBinary(socket: WebSocket, frame: Uint8Array): Promise<boolean> {
  return new Promise((resolve) =>
    socket.send(frame, (error) => resolve(error === undefined || error === null)),
  );
}

function tooManyChannels(at: number): NacreError {
  return new NacreError('resources_unavailable', `The channel ${at} is in use, or ${maxChannels} are.`, {
    hint: 'Close a channel first.',
  });
}
