import { AsyncResource } from 'node:async_hooks';
import { mkdirSync, readFileSync, rmdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { finishedEntry } from '../../tests/support/audit.ts';
import { temporaryFolder } from '../../tests/support/temporary-folder.ts';
import { listAuditFiles } from './audit-files.ts';
import { createAuditIndex } from './audit-index.ts';
import { digestOf } from './chain.ts';
import { ChainWriter, FileAnchors } from './chain-writer.ts';
import type { QueuedEntry } from './record-queue.ts';

const context = new AsyncResource('test', { requireManualDestroy: true });
let dir = '';
let writer: ChainWriter;
beforeEach(() => {
  dir = temporaryFolder();
  const anchors = new FileAnchors(() => createAuditIndex(dir, { durable: false }), 'server');
  const files = { dir, instance: 'server', fsync: 'interval' } as const;
  writer = new ChainWriter({ files, anchors, redact: (text) => text, key: () => undefined });
});
afterEach(() => {
  writer.close();
  rmSync(dir, { recursive: true });
});

function entryAt(day: string, id: string): QueuedEntry {
  return { entry: finishedEntry(id), time: `${day}T12:00:00.000Z`, day, context };
}

const idsIn = (name: string) =>
  readFileSync(join(dir, name), 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line).id);

test('each day has its file, and a clock that is set back stays in the later one', () => {
  for (const [day, id] of [
    ['2026-01-31', 'a'],
    ['2026-02-01', 'b'],
    ['2026-01-31', 'c'],
  ] as const)
    writer.append([entryAt(day, id)]);
  expect(listAuditFiles(dir).map(({ day, name }) => [day, ...idsIn(name)])).toEqual([
    ['2026-01-31', 'a'],
    ['2026-02-01', 'b', 'c'],
  ]);
});

test('a failed write leaves the head where the file ends', () => {
  const path = join(dir, '2026-01-31_server.jsonl');
  mkdirSync(path);
  expect(() => writer.append([entryAt('2026-01-31', 'a')])).toThrow(/EISDIR/);
  expect(writer.head.sequence).toBe(0);
  rmdirSync(path);
  const [written] = writer.append([entryAt('2026-01-31', 'b')]);
  expect(written?.record).toMatchObject({ seq: 0, prev: '0'.repeat(64), id: 'b' });
  expect(writer.head.digest()).toBe(digestOf(readFileSync(path)));
});

test('anchor returns true once for each file', () => {
  expect(writer.anchor()).toBe(false);
  writer.append([entryAt('2026-01-31', 'a')]);
  expect([writer.anchor(), writer.anchor()]).toEqual([true, false]);
  writer.append([entryAt('2026-02-01', 'b')]);
  expect(writer.anchor()).toBe(true);
});
