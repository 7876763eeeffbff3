// One WebSocket of a page, at /api/console: JSON for words, binary frames for output. `watch` subscribes to changes
// since a token; `open` sends the output of a command on a channel.
import type { WebSocket } from 'ws';
import { z } from 'zod';
import type { FoundRecord } from '../../../audit/feed.ts';
import type { ConsoleMessage, RecordRow } from '../../../contract/console.ts';
import { NacreError, toNacreError } from '../../../contract/failure.ts';
import { type HttpCaller, toCaller } from '../access/callers.ts';
import { type OutputDeps, openOutput } from './command-output.ts';
import type { PageDescription } from './console-endpoints.ts';
import { findCommand } from './find-command.ts';
import { type ConsoleHub, toRecordRow } from './hub.ts';
import { type Observer, startObserver } from './observe.ts';

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
    to: cursor.optional(),
    mode: z.enum(['tail', 'all']),
  }),
  z.strictObject({ type: z.literal('ack'), channel, cursor }),
  z.strictObject({ type: z.literal('close'), channel }),
]);
const maxChannels = 32;
// The socket of a page that does not read is closed; the page reconnects with its token.
const maxBufferedBytes = 16_777_216;

interface Channel {
  readonly stop: AbortController;
  observer?: Observer;
}

type Message = z.output<typeof messages>;
type Watch = Extract<Message, { type: 'watch' }>;
type Open = Extract<Message, { type: 'open' }>;

/** Serves the socket of one page until it closes. */
export function serveConsole(deps: ConsoleSocketDeps, socket: WebSocket, caller: HttpCaller): void {
  const page = new PageSocket(deps, socket, caller);
  socket.on('message', (data, isBinary) => page.receive(String(data), isBinary));
  socket.on('close', () => page.close());
}

class PageSocket {
  readonly #deps: ConsoleSocketDeps;
  readonly #socket: WebSocket;
  readonly #caller: HttpCaller;
  readonly #channels = new Map<number, Channel>();
  readonly #viewed = new Set<string>();
  #unlisten: (() => void) | undefined;

  constructor(deps: ConsoleSocketDeps, socket: WebSocket, caller: HttpCaller) {
    this.#deps = deps;
    this.#socket = socket;
    this.#caller = caller;
  }

  receive(text: string, isBinary: boolean): void {
    try {
      this.#handle(receiveMessage(text, isBinary));
    } catch (error) {
      this.#fail(null, error);
    }
  }

  close(): void {
    this.#unlisten?.();
    this.#unlisten = undefined;
    for (const at of [...this.#channels.keys()]) this.#closeChannel(at);
  }

  #handle(message: Message): void {
    if (message.type === 'ack') this.#channels.get(message.channel)?.observer?.ack(message.cursor);
    if (message.type === 'close') this.#closeChannel(message.channel);
    if (message.type === 'watch') this.#watch(message).catch((error) => this.#fail(null, error));
    if (message.type !== 'open') return;
    const { channel: at } = message;
    if (this.#channels.size >= maxChannels || this.#channels.has(at)) throw tooManyChannels(at);
    this.#open(message)
      .catch((error) => this.#fail(at, error))
      .finally(() => this.#closeChannel(at));
  }

  #send(message: ConsoleMessage): void {
    if (this.#socket.bufferedAmount > maxBufferedBytes) this.#socket.terminate();
    else this.#socket.send(JSON.stringify(message), () => {});
  }

  #fail(channel: number | null, error: unknown): void {
    const { message, hint } = toNacreError(error);
    this.#send({ type: 'error', channel, error: message, ...(hint !== undefined && { hint }) });
  }

  async #watch({ after, records = false }: Watch): Promise<void> {
    const { hub, describe } = this.#deps;
    // Subscribes before it reads the state, so that no change is missed; `later` is sent after the state.
    const later: (() => void)[] = [];
    let isReady = false;
    const send = (message: () => ConsoleMessage) => {
      if (isReady) this.#send(message());
      else later.push(() => this.#send(message()));
    };
    const known = new Set<string>();
    const unlisten = hub.listen({
      mayAnswer: this.#caller.page?.role === 'operator',
      onLive: (cards, change, token) => send(() => ({ type: 'live', token, cards, change })),
      onRecords: (rows, token) => {
        const fresh = () => rows.filter((row) => !known.has(placeOf(row)));
        if (records) send(() => ({ type: 'records', token, records: fresh() }));
      },
    });
    const token = hub.token();
    this.#unlisten?.();
    this.#unlisten = unlisten;
    const now = { ...describe(this.#caller), ...(await hub.snapshot()) };
    const missed = after === undefined ? [] : await hub.feed.since(after);
    if (this.#unlisten !== unlisten) return;
    this.#send({ type: 'now', token: missed?.length ? (after ?? token) : token, now });
    if (missed === undefined) this.#send({ type: 'reset', token });
    else if (missed.length > 0) this.#sendMissed(missed, { records, known, before: after ?? token, token });
    isReady = true;
    for (const one of later) one();
    known.clear();
  }

  // After a lost connection between the two messages, the page reconnects with `before` and gets both again.
  #sendMissed(
    missed: readonly FoundRecord[],
    {
      records,
      known,
      before,
      token,
    }: {
      readonly records: boolean;
      readonly known: Set<string>;
      readonly before: string;
      readonly token: string;
    },
  ): void {
    const { hub } = this.#deps;
    const rows = missed.map(toRecordRow);
    for (const row of rows) known.add(placeOf(row));
    const ids = [...new Set(missed.map(({ record }) => record.id))];
    const cards = ids.flatMap((id) => hub.index.get(id) ?? []).map((command) => hub.card(command));
    if (records) this.#send({ type: 'records', token: before, records: rows });
    this.#send({ type: 'live', token, cards, change: {} });
  }

  async #open({ channel: at, command: id, from, to, mode }: Open): Promise<void> {
    const { hub } = this.#deps;
    const own: Channel = { stop: new AbortController() };
    this.#channels.set(at, own);
    const output = await openOutput(this.#deps, await findCommand(this.#deps, this.#caller, id));
    const isFirst = !this.#viewed.has(id);
    this.#viewed.add(id);
    if (isFirst) (await this.#deps.engine()).notePageAct('viewed', toCaller(this.#caller), { id });
    const read = output.isOwn ? hub.reads.share(id, output.read) : output.read;
    const leave = hub.reads.join();
    own.observer = startObserver(read, {
      gatherMs: () => hub.reads.gatherMs(),
      ...{ channel: at, from, to, mode, signal: own.stop.signal },
      send: (message) => this.#send(message),
      sendBytes: (frame) => sendBinary(this.#socket, frame),
    });
    await own.observer.done.finally(() => {
      leave();
      output.close();
    });
  }

  #closeChannel(at: number): void {
    this.#channels.get(at)?.stop.abort();
    this.#channels.delete(at);
  }
}

function placeOf({ server, seq }: RecordRow): string {
  return `${server} ${seq}`;
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
  return new NacreError(
    'resources_unavailable',
    `The channel ${at} is in use, or ${maxChannels} channels are open.`,
    {
      hint: 'Close a channel first.',
    },
  );
}
