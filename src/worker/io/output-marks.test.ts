import { expect, test } from 'vitest';
import { OutputMarks } from './output-marks.ts';

test('a mark is made every 100 ms or 64 KiB, and a range begins with the mark before it', () => {
  let now = 0;
  const marks = new OutputMarks(() => now);
  marks.add(0);
  now = 50;
  marks.add(10);
  now = 120;
  marks.add(20);
  marks.add(20 + 65_536);
  expect(marks.between(0, 100_000)).toEqual([
    { cursor: 0, ms: 0 },
    { cursor: 20, ms: 120 },
    { cursor: 65_556, ms: 120 },
  ]);
  expect(marks.between(15, 20)).toEqual([{ cursor: 0, ms: 0 }]);
  expect(marks.between(25, 30)).toEqual([{ cursor: 20, ms: 120 }]);
  expect(marks.between(20, 21)).toEqual([{ cursor: 20, ms: 120 }]);
});

test('a log that grows for days keeps a bounded number of marks', () => {
  let now = 0;
  const marks = new OutputMarks(() => now);
  for (let count = 0; count < 100_000; count += 1) {
    now += 150;
    marks.add(count * 10);
  }
  const all = marks.between(0, 1_000_000);
  expect(all.length).toBeLessThanOrEqual(4_096);
  expect(all.length).toBeGreaterThan(1_000);
});
