import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { temporaryFolder } from '../../tests/support/temporary-folder.ts';
import type { Anchor, AuditIndex } from './audit-index.ts';
import { ChainHead } from './chain.ts';
import { FileAnchors } from './chain-writer.ts';
import { DayFile } from './line-file.ts';

let dir = '';
let written: Anchor[] = [];
let anchors: FileAnchors;
let file: DayFile;
beforeEach(() => {
  vi.useFakeTimers();
  dir = temporaryFolder();
  written = [];
  anchors = new FileAnchors(() => indexOf((anchor) => written.push(anchor)), 'server');
  file = new DayFile('2026-01-31', { dir, instance: 'server', fsync: 'interval' }, ChainHead.empty());
});
afterEach(() => {
  vi.useRealTimers();
  rmSync(dir, { recursive: true });
});

function indexOf(append: (anchor: Anchor) => void): AuditIndex {
  return { append, locked: (step) => step(append), compact: () => {} };
}

function append(head: ChainHead, line: string): ChainHead {
  file.append(line);
  return head.after(line);
}

test('a new file is anchored by its first records', () => {
  const head = append(ChainHead.empty(), 'one\n');
  expect(file.isAnchored).toBe(false);
  anchors.open(file, head);
  expect(file.isAnchored).toBe(true);
  const place = { file: file.name, instance: 'server', first: 0, before: '0'.repeat(64) };
  expect(written).toEqual([{ event: 'open', ...place, last: 0, head: head.digest() }]);
  file.close();
});

test('later records share one anchor, which covers only what was written before the sync', () => {
  let head = append(ChainHead.empty(), 'one\n');
  anchors.open(file, head);
  const syncs: (() => void)[] = [];
  vi.spyOn(file, 'sync').mockImplementation((done) => void syncs.push(done));
  for (const line of ['two\n', 'three\n']) {
    head = append(head, line);
    anchors.anchorSoon(file, () => head);
  }
  vi.advanceTimersByTime(5_000);
  const synced = head;
  head = append(head, 'four\n');
  expect(syncs).toHaveLength(1);
  syncs[0]?.();
  expect(written.at(-1)).toMatchObject({ event: 'anchor', last: 2, head: synced.digest() });
  file.close();
});

test('a closed file gets a last anchor and none after it', () => {
  const head = append(ChainHead.empty(), 'one\n');
  anchors.open(file, head);
  const syncs: (() => void)[] = [];
  vi.spyOn(file, 'sync').mockImplementation((done) => void syncs.push(done));
  anchors.anchorSoon(file, () => head.after('two\n'));
  vi.advanceTimersByTime(5_000);
  file.close();
  anchors.close(file, head);
  syncs[0]?.();
  expect(written.map(({ event }) => event)).toEqual(['open', 'closed']);
});

test('a file that another server has pruned is not anchored again', () => {
  const head = append(ChainHead.empty(), 'one\n');
  file.close();
  rmSync(join(dir, file.name));
  anchors.close(file, head);
  expect(written).toEqual([]);
});

test('an index that cannot be written fails only the first anchor of a file', () => {
  const broken = new FileAnchors(
    () =>
      indexOf(() => {
        throw new Error('no space');
      }),
    'server',
  );
  const head = append(ChainHead.empty(), 'one\n');
  expect(() => broken.open(file, head)).toThrow('no space');
  file.close();
  expect(() => broken.close(file, head)).not.toThrow();
});

test('stop cancels the pending anchor', () => {
  const head = append(ChainHead.empty(), 'one\n');
  anchors.anchorSoon(file, () => head);
  anchors.stop();
  expect(vi.getTimerCount()).toBe(1); // The fsync() timer of the line file.
  file.close();
  expect(vi.getTimerCount()).toBe(0);
});
