import { expect, test } from 'vitest';
import type { ReadResult } from '../contract/job.ts';
import { readRange, type TailPiece, tail } from './tail.ts';

// A log of letters that grows by one piece per read that finds nothing.
function createLog(...pieces: readonly string[]) {
  const waits: number[] = [];
  let text = '';
  const rest = [...pieces];
  const read = async (
    from: number,
    { waitMs, maxBytes }: { waitMs: number; maxBytes: number },
  ): Promise<ReadResult> => {
    waits.push(waitMs);
    if (from === text.length) text += rest.shift() ?? '';
    const data = Buffer.from(text.slice(from, from + maxBytes));
    const chunks = data.length > 0 ? [{ stream: 'stdout', data } as const] : [];
    return { chunks, next: from + data.length, end: text.length, final: rest.length === 0 };
  };
  return { read, waits };
}

async function collect(pieces: AsyncIterable<TailPiece>): Promise<string[]> {
  const texts: string[] = [];
  for await (const { chunks, from, skipped } of pieces)
    texts.push(`${from}${skipped ? ' skipped' : ''}:${chunks.map(({ data }) => String(data)).join('')}`);
  return texts;
}

test('tail yields every piece once, empty ones too, and ends behind the last', async () => {
  const { read } = createLog('abc', '', 'd');
  expect(await collect(tail(read, 0, { waitMs: 5, maxBytes: 2 }))).toEqual(['0:ab', '2:c', '3:', '3:d']);
});

test('tail begins at its cursor and asks for the wait before each read', async () => {
  const { read, waits } = createLog('abc', 'd');
  let waitMs = 0;
  expect(await collect(tail(read, 0, { waitMs: () => ++waitMs, maxBytes: 3 }))).toEqual(['0:abc', '3:d']);
  expect(waits).toEqual([1, 2]);
});

test('tail skips to the newest bytes when it lags too far behind', async () => {
  const { read } = createLog('abcdefgh');
  expect(await collect(tail(read, 0, { waitMs: 0, maxBytes: 2, maxLagBytes: 4 }))).toEqual([
    '0 skipped:',
    '6:gh',
  ]);
});

test('tail without bytes reports only that the log has grown', async () => {
  const { read } = createLog('abc', 'd');
  expect(await collect(tail(read, 0, { waitMs: 0, maxBytes: 0, maxLagBytes: 0 }))).toEqual([
    '0 skipped:',
    '3 skipped:',
  ]);
});

test('readRange returns what lies between two cursors', async () => {
  const { read } = createLog('abcdef', 'g');
  await read(0, { waitMs: 0, maxBytes: 0 });
  const texts = async (from: number, to: number) =>
    (await readRange(read, from, to)).map(({ data }) => String(data));
  expect(await texts(1, 3)).toEqual(['bc']);
  expect(await texts(4, 6)).toEqual(['ef']);
});
