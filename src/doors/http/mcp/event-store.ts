import type { EventStore, JSONRPCMessage } from '@modelcontextprotocol/server';

/** The events of one MCP session, so that a client that lost its connection can read the ones it missed. */
export interface SessionEvents extends EventStore {
  /** The stream that an event belongs to; undefined if the event is unknown or was dropped. */
  streamOf(eventId: string): string | undefined;
  /** Drops the events of a stream that needs no replay any more. */
  forget(streamId: string): void;
}

interface StoredEvent {
  readonly id: string;
  readonly message: JSONRPCMessage;
  readonly chars: number;
}

const maxSessionChars = 33_554_432;
const maxStreamEvents = 1_000;

/** Creates an empty store; beyond `maxChars` it drops the oldest streams, and of one stream the oldest events. */
export function createSessionEvents(maxChars = maxSessionChars): SessionEvents {
  const streams = new Map<string, StoredEvent[]>();
  let [counter, chars] = [0, 0];
  const drop = (events: readonly StoredEvent[]) => {
    for (const event of events) chars -= event.chars;
  };
  const forget = (streamId: string) => {
    drop(streams.get(streamId) ?? []);
    streams.delete(streamId);
  };
  const makeRoom = (kept: string) => {
    for (const streamId of streams.keys()) {
      if (chars <= maxChars) return;
      if (streamId !== kept) forget(streamId);
    }
    const events = streams.get(kept) ?? [];
    while (events.length > 1 && (chars > maxChars || events.length > maxStreamEvents))
      drop(events.splice(0, 1));
  };
  // The id is `STREAM/NUMBER`, so that it names its stream even if the event itself was dropped.
  const streamOf = (eventId: string) => {
    const streamId = eventId.slice(0, eventId.lastIndexOf('/'));
    return streams.has(streamId) ? streamId : undefined;
  };
  return {
    streamOf,
    forget,
    async storeEvent(streamId, message) {
      counter += 1;
      const event = { id: `${streamId}/${counter}`, message, chars: JSON.stringify(message).length };
      const events = streams.get(streamId) ?? [];
      events.push(event);
      streams.set(streamId, events);
      chars += event.chars;
      makeRoom(streamId);
      return event.id;
    },
    getStreamIdForEventId: async (eventId) => streamOf(eventId),
    async replayEventsAfter(lastEventId, { send }) {
      const streamId = streamOf(lastEventId) ?? '';
      const last = numberOf(lastEventId);
      // The first event of a stream is empty and only has an id.
      for (const { id, message } of streams.get(streamId) ?? [])
        if (numberOf(id) > last && 'jsonrpc' in message) await send(id, message);
      return streamId;
    },
  };
}

function numberOf(eventId: string): number {
  return Number(eventId.slice(eventId.lastIndexOf('/') + 1));
}
