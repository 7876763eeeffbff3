import { appendFileSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { temporaryFolder } from '../../tests/support/temporary-folder.ts';
import { sleep } from '../support/timing.ts';
import { createCommandIndex } from './command-index.ts';
import { createAuditFeed, type FoundRecord } from './feed.ts';

let dir = '';
beforeEach(() => {
  dir = join(temporaryFolder(), 'audit');
  mkdirSync(dir);
});
afterEach(() => rmSync(join(dir, '..'), { recursive: true, force: true }));

const toLine = (id: string, time: string) =>
  `${JSON.stringify({ seq: 1, time, kind: 'asked', id, door: 'mcp', client: 'test', command: id })}\n`;
const write = (file: string, id: string, time = '2026-01-02T10:00:00.000Z') =>
  appendFileSync(join(dir, file), toLine(id, time));
const slow = { timeout: 20_000 };

describe('the feed of an audit folder', () => {
  test('passes on every record of every file once, and later ones without waiting for the poll', async () => {
    write('2026-01-01_1_aa.jsonl', 'old');
    write('2026-01-02_1_aa.jsonl', 'one');
    const found: string[] = [];
    const onRecords = (records: readonly FoundRecord[]) =>
      void found.push(...records.map(({ record }) => record.id));
    const feed = createAuditFeed(dir, { onRecords, pollMs: 3_600_000 });
    await feed.upToDate();
    await expect.poll(() => found, slow).toEqual(['old', 'one']);
    const token = feed.token();
    write('2026-01-02_1_aa.jsonl', 'two');
    await expect.poll(() => found, slow).toEqual(['old', 'one', 'two']);
    write('2026-01-02_2_bb.jsonl', 'three');
    await expect.poll(() => found, slow).toEqual(['old', 'one', 'two', 'three']);
    const missed = await feed.since(token);
    expect(missed?.map(({ record }) => record.id)).toEqual(['two', 'three']);
    expect(await feed.since('not-a-token')).toBeUndefined();
    feed.close();
  });

  test('records that no page follows are passed on at the next request', async () => {
    const found: string[] = [];
    let isFollowed = false;
    const feed = createAuditFeed(dir, {
      onRecords: (records) => void found.push(...records.map(({ record }) => record.id)),
      isFollowed: () => isFollowed,
      pollMs: 3_600_000,
    });
    await feed.upToDate();
    write('2026-01-02_1_aa.jsonl', 'one');
    await sleep(100);
    expect(found).toEqual([]);
    await feed.upToDate();
    expect(found).toEqual(['one']);
    isFollowed = true;
    write('2026-01-02_1_aa.jsonl', 'two');
    await expect.poll(() => found, slow).toEqual(['one', 'two']);
    feed.close();
  });

  test('a line that is written in two pieces is passed on when it is complete', async () => {
    const found: string[] = [];
    const feed = createAuditFeed(dir, {
      onRecords: (records) => void found.push(...records.map(({ record }) => record.id)),
    });
    await feed.upToDate();
    const line = toLine('whole', '2026-01-02T10:00:00.000Z');
    const file = join(dir, '2026-01-02_1_aa.jsonl');
    appendFileSync(file, line.slice(0, 20));
    write('2026-01-02_2_bb.jsonl', 'other');
    await expect.poll(() => found, slow).toEqual(['other']);
    appendFileSync(file, line.slice(20));
    await expect.poll(() => found, slow).toEqual(['other', 'whole']);
    feed.close();
  });
});

describe('the command index', () => {
  const record = (id: string, minute: number): FoundRecord => ({
    record: JSON.parse(toLine(id, `2026-01-02T10:0${minute}:00.000Z`)),
    ...{ instance: '1_aa', file: 'a', from: 0, to: 1 },
  });

  test('orders the commands of servers that ran at the same time, and forgets the oldest', () => {
    const index = createCommandIndex(3);
    index.add([record('b', 2), record('d', 4)]);
    index.add([record('a', 1), record('c', 3)]);
    expect(index.all().map(({ id }) => id)).toEqual(['d', 'c', 'b']);
    expect(index.get('a')).toBeUndefined();
    index.add([record('e', 5)]);
    expect(index.all().map(({ id }) => id)).toEqual(['e', 'd', 'c']);
    expect(index.size).toBe(3);
  });
});
