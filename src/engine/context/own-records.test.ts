import { expect, test } from 'vitest';
import { createOwnRecords } from './own-records.ts';

const toRecord = (id: string, seq: number) =>
  ({ seq, id, time: '', kind: 'asked', door: 'mcp', client: 'tester' }) as const;

test('an owner sees the records of its own commands; no one sees those without an owner', () => {
  const records = createOwnRecords();
  records.claim('a', 'ann');
  records.claim('b', 'ben');
  records.claim('c', undefined);
  for (const [seq, id] of ['a', 'b', 'c', 'a'].entries()) records.observe(toRecord(id, seq));
  expect(records.of('ann').map(({ seq }) => seq)).toEqual([0, 3]);
  expect(records.of('ben').map(({ seq }) => seq)).toEqual([1]);
});

test('only the newest records are kept', () => {
  const records = createOwnRecords();
  for (let seq = 0; seq < 600; seq += 1) {
    records.claim(`cmd_${seq}`, 'ann');
    records.observe(toRecord(`cmd_${seq}`, seq));
  }
  records.observe(toRecord('cmd_0', 600));
  const seen = records.of('ann').map(({ seq }) => seq);
  expect([seen[0], seen.at(-1), seen.length]).toEqual([100, 599, 500]);
});
