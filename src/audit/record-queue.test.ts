import { AsyncResource } from 'node:async_hooks';
import { expect, test } from 'vitest';
import { askedEntry, auditCaller as caller, finishedEntry } from '../../tests/support/audit.ts';
import type { AuditEntry } from './entry.ts';
import { type QueuedEntry, RecordQueue } from './record-queue.ts';

const context = new AsyncResource('test', { requireManualDestroy: true });

function queued(entry: AuditEntry, day = '2026-01-31'): QueuedEntry {
  return { entry, time: `${day}T12:00:00.000Z`, day, context };
}

function queueOf(...entries: readonly QueuedEntry[]): RecordQueue {
  const queue = new RecordQueue();
  for (const entry of entries) queue.push(entry);
  return queue;
}

const idsOf = (batch: readonly QueuedEntry[]) => batch.map(({ entry }) => entry.id);

test('a batch ends before the first entry of a later day', () => {
  const queue = queueOf(
    queued(finishedEntry('a'), '2026-01-31'),
    // The clock was set back: the record stays in the file of the later day.
    queued(finishedEntry('b'), '2026-01-30'),
    queued(finishedEntry('c'), '2026-02-01'),
  );
  expect(idsOf(queue.nextBatch())).toEqual(['a', 'b']);
  queue.removeWritten(2);
  expect(idsOf(queue.nextBatch())).toEqual(['c']);
  queue.removeWritten(1);
  expect(queue.nextBatch()).toEqual([]);
});

test('after a failed write only ends stay queued, and commands that lost a record are refused until they fail', () => {
  const started: AuditEntry = { kind: 'started', id: 'lost', caller, cwd: '/' };
  const queue = queueOf(
    queued(finishedEntry('ended')),
    queued(askedEntry('x', { id: 'lost' })),
    queued(askedEntry('x', { id: 'failing' })),
  );
  queue.dropUnwritten('failing');
  expect(idsOf(queue.nextBatch())).toEqual(['ended']);
  expect([queue.accepts(started), queue.accepts(askedEntry('x', { id: 'failing' }))]).toEqual([false, true]);
  const failed: AuditEntry = { kind: 'failed', id: 'lost', caller, error: new Error('x') };
  expect(queue.accepts(failed)).toBe(true);
  queue.push(queued(failed));
  expect(queue.accepts(started)).toBe(true);
});
