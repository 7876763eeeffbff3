import fc from 'fast-check';
import { expect, it } from 'vitest';
import { suffixPattern, toNumber } from './units.ts';

it('reads plain numbers under every unit', () => {
  fc.assert(
    fc.property(fc.integer(), fc.constantFrom('bytes', 'ms', 'seconds', undefined), (number, unit) => {
      expect(toNumber(String(number), unit)).toBe(number);
    }),
  );
});

it.each([
  ['256MiB', 'bytes', 268_435_456],
  ['64kB', 'bytes', 64_000],
  ['64 KiB', 'bytes', 65_536],
  ['1.5GiB', 'bytes', 1_610_612_736],
  ['2s', 'ms', 2_000],
  ['1.5s', 'ms', 1_500],
  ['250ms', 'ms', 250],
  ['15min', 'seconds', 900],
  ['1h', 'seconds', 3_600],
] as const)('%s as %s is %d', (text, unit, expected) => {
  expect(toNumber(text, unit)).toBe(expected);
  expect(text).toMatch(new RegExp(suffixPattern(unit)));
});

it.each([
  ['', 'bytes'],
  ['MiB', 'bytes'],
  ['1 2', 'bytes'],
  ['1_000', 'bytes'],
  ['1e3', 'bytes'],
  ['0x10', 'bytes'],
  ['5s', 'bytes'],
  ['5kB', 'ms'],
  ['250ms', 'seconds'],
  ['5s', undefined],
  ['1K', 'bytes'],
] as const)('"%s" is no number of %s', (text, unit) => {
  expect(toNumber(text, unit)).toBeUndefined();
});
