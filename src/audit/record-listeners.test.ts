import { AsyncLocalStorage, AsyncResource } from 'node:async_hooks';
import { expect, test } from 'vitest';
import type { AuditRecord } from './read-records.ts';
import { RecordListeners } from './record-queue.ts';

function written(id: string) {
  const record: AuditRecord = { seq: 0, time: '', kind: 'asked', id, door: 'mcp', client: 'test' };
  return { record, context: new AsyncResource('test', { requireManualDestroy: true }) };
}

test('each record reaches every listener once, even if another listener throws', () => {
  const listeners = new RecordListeners();
  const ids: string[] = [];
  listeners.subscribe(() => {
    throw new Error('broken listener');
  });
  listeners.subscribe(({ id }) => ids.push(id));
  listeners.add([written('a'), written('b')]);
  expect(ids).toEqual([]);
  listeners.notify();
  listeners.notify();
  expect(ids).toEqual(['a', 'b']);
});

test('a listener runs in the async context of the record', () => {
  const active = new AsyncLocalStorage<string>();
  const listeners = new RecordListeners();
  const seen: unknown[] = [];
  listeners.subscribe(() => seen.push(active.getStore()));
  listeners.add([active.run('span', () => written('a'))]);
  listeners.notify();
  expect(seen).toEqual(['span']);
});

test('a listener may cause a record, which is sent by the next notify', () => {
  const listeners = new RecordListeners();
  const ids: string[] = [];
  listeners.subscribe(({ id }) => {
    ids.push(id);
    if (id === 'a') listeners.add([written('b')]);
  });
  listeners.add([written('a')]);
  listeners.notify();
  expect(ids).toEqual(['a']);
  listeners.notify();
  expect(ids).toEqual(['a', 'b']);
});
