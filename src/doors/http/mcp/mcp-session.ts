// One MCP session, in protocol revisions up to 2025-11-25:
// 1. every POST with requests is a call; `send` notices their responses, 2. if its connection is lost before that, the client may
// resume the stream with Last-Event-ID for `resumeMs`; then the requests are cancelled, which kills their commands,
// 3. a session without open calls and streams that is not used for `idleMs` is closed, as if the client had sent DELETE.
import { AsyncLocalStorage } from 'node:async_hooks';
import {
  isJSONRPCErrorResponse,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
  type JSONRPCMessage,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { createSecret } from '../access/tokens.ts';
import { createSessionEvents } from './event-store.ts';

/** Limits on lost connections and unused sessions. */
export interface SessionTimes {
  /** How long a call keeps running after its connection was lost. */
  readonly resumeMs: number;
  /** How long an unused session stays open. */
  readonly idleMs: number;
}

/** Options of `McpSession`. */
export interface McpSessionOptions extends SessionTimes {
  readonly maxBodyBytes: number;
  onOpen(id: string): void;
  /** Called once, after DELETE, `close`, or `idleMs` without use. */
  onEnd(): void;
}

type RequestId = string | number;

/** The requests of one POST. */
interface OpenCall {
  readonly ids: Set<RequestId>;
  /** The stream of its responses, known after its first event. */
  streamId?: string | undefined;
  timer?: NodeJS.Timeout | undefined;
}

/** The server's end of a session; `transport` has to be connected to an MCP server. */
export class McpSession {
  readonly transport: WebStandardStreamableHTTPServerTransport;
  readonly #options: McpSessionOptions;
  readonly #events = createSessionEvents();
  readonly #calls = new Set<OpenCall>();
  readonly #listening = new Set<Request>();
  readonly #current = new AsyncLocalStorage<OpenCall>();
  #idle: NodeJS.Timeout | undefined;
  usedAt = performance.now();

  constructor(options: McpSessionOptions) {
    this.#options = options;
    this.transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: createSecret,
      maxRequestBodySize: options.maxBodyBytes,
      onsessioninitialized: options.onOpen,
      eventStore: {
        ...this.#events,
        storeEvent: (streamId, message) => {
          const call = this.#current.getStore();
          if (call) call.streamId ??= streamId;
          return this.#events.storeEvent(streamId, message);
        },
      },
    });
  }

  /** Watches messages; called after the MCP server has set its own handlers. */
  watch(): void {
    const { transport } = this;
    const { onmessage, onclose } = transport;
    const send = transport.send.bind(transport);
    transport.onmessage = (message, extra) => {
      const call = this.#current.getStore();
      if (call && isJSONRPCRequest(message)) call.ids.add(message.id);
      onmessage?.(message, extra);
    };
    transport.send = async (message, options) => {
      await send(message, options);
      if (isJSONRPCResultResponse(message) || isJSONRPCErrorResponse(message)) this.#answered(message.id);
    };
    transport.onclose = () => {
      this.#stop();
      onclose?.();
      this.#options.onEnd();
    };
    this.#use();
  }

  /** Answers a request of the session. */
  async answer(request: Request): Promise<Response> {
    this.#use();
    const { signal } = request;
    if (request.method === 'GET') return this.#listen(request);
    if (request.method !== 'POST') return this.transport.handleRequest(request);
    const call: OpenCall = { ids: new Set() };
    this.#calls.add(call);
    const lost = () => this.#lost(call);
    signal.addEventListener('abort', lost, { once: true });
    const response = await this.#current.run(call, () => this.transport.handleRequest(request));
    if (call.ids.size === 0) this.#end(call);
    else if (signal.aborted) lost();
    return response;
  }

  close(): Promise<void> {
    return this.transport.close();
  }

  async #listen(request: Request): Promise<Response> {
    const eventId = request.headers.get('last-event-id');
    const streamId = eventId === null ? undefined : this.#events.streamOf(eventId);
    const call = [...this.#calls].find((one) => one.streamId !== undefined && one.streamId === streamId);
    const response = await this.transport.handleRequest(request);
    if (response.status !== 200) return response;
    this.#listening.add(request);
    clearTimeout(call?.timer);
    const left = () => {
      this.#listening.delete(request);
      if (call) this.#lost(call);
      this.#use();
    };
    request.signal.addEventListener('abort', left, { once: true });
    if (request.signal.aborted) left();
    return response;
  }

  #answered(id: RequestId | undefined): void {
    if (id === undefined) return;
    for (const call of this.#calls) if (call.ids.delete(id) && call.ids.size === 0) this.#end(call);
  }

  // Its events stay for `resumeMs`, because the connection may have been lost before the last of them arrived.
  #end(call: OpenCall): void {
    clearTimeout(call.timer);
    this.#calls.delete(call);
    this.#use();
    const { streamId } = call;
    if (streamId !== undefined)
      setTimeout(() => this.#events.forget(streamId), this.#options.resumeMs).unref();
  }

  #lost(call: OpenCall): void {
    if (!this.#calls.has(call)) return;
    clearTimeout(call.timer);
    call.timer = setTimeout(() => this.#cancel(call), this.#options.resumeMs).unref();
  }

  #cancel(call: OpenCall): void {
    for (const requestId of call.ids) this.#receive(toCancellation(requestId));
    call.ids.clear();
    this.#end(call);
  }

  #receive(message: JSONRPCMessage): void {
    this.transport.onmessage?.(message);
  }

  // The timer measures monotonic time, so a suspended machine does not lose its sessions when it wakes up.
  #use(): void {
    this.usedAt = performance.now();
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => {
      if (this.#calls.size + this.#listening.size > 0) this.#use();
      else void this.close().catch(() => {});
    }, this.#options.idleMs).unref();
  }

  #stop(): void {
    clearTimeout(this.#idle);
    for (const { timer } of this.#calls) clearTimeout(timer);
  }
}

function toCancellation(requestId: RequestId): JSONRPCMessage {
  const params = { requestId, reason: 'The connection was lost and not resumed.' };
  return { jsonrpc: '2.0', method: 'notifications/cancelled', params };
}
