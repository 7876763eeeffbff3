import type { JSONRPCMessage } from '@modelcontextprotocol/server';
import { expect, test } from 'vitest';
import { createSessionEvents } from './event-store.ts';

const note = (text: string): JSONRPCMessage => ({ jsonrpc: '2.0', method: text });

async function replayed(events: ReturnType<typeof createSessionEvents>, after: string): Promise<string[]> {
  const sent: string[] = [];
  await events.replayEventsAfter(after, {
    send: async (_, message) => void sent.push((message as { method: string }).method),
  });
  return sent;
}

test('replays the later events of the same stream, in order', async () => {
  const events = createSessionEvents();
  const first = await events.storeEvent('a', {} as JSONRPCMessage);
  await events.storeEvent('b', note('other'));
  const second = await events.storeEvent('a', note('one'));
  await events.storeEvent('a', note('two'));
  expect(await replayed(events, first)).toEqual(['one', 'two']);
  expect(await replayed(events, second)).toEqual(['two']);
  expect(events.streamOf(second)).toBe('a');
  events.forget('a');
  expect(events.streamOf(second)).toBeUndefined();
});

test('uses a bounded amount of memory: the oldest streams are dropped, then the oldest events', async () => {
  const events = createSessionEvents(200);
  const old = await events.storeEvent('old', note('x'.repeat(100)));
  const first = await events.storeEvent('new', note('y'.repeat(100)));
  expect(events.streamOf(old)).toBeUndefined();
  await events.storeEvent('new', note('z'.repeat(100)));
  expect((await replayed(events, first.replace(/\d+$/, '0'))).map((text) => text[0])).toEqual(['z']);
});
