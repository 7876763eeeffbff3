import { expect, test } from 'vitest';
import { formatBytes, formatCount } from './amounts.ts';

test('formatCount separates thousands', () => {
  expect([0, 999, 1000, 1_234_567].map(formatCount)).toEqual(['0', '999', '1,000', '1,234,567']);
});

test('formatBytes chooses the unit that fits', () => {
  const told = [1, 2, 999, 1000, 255_900_000, 3_200_000_000, 5e15].map(formatBytes);
  expect([1_048_576, 10_485_760, 10_485_761].map(formatBytes)).toEqual(['1 MiB', '10 MiB', '10.5 MB']);
  expect(told).toEqual(['1 byte', '2 bytes', '999 bytes', '1.0 kB', '255.9 MB', '3.2 GB', '5000.0 TB']);
});
