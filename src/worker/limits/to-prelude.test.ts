import { describe, expect, test } from 'vitest';
import { parseAuxiliaryVector, systemUnits } from '../processes/proc-process-table.ts';
import { formatLimit } from './format-limit.ts';
import { toPrelude } from './limit-enforcer.ts';
import { isUnlimited, mergeLimits } from './merge-limits.ts';

describe('the prelude of a shell', () => {
  const plain = { ownProcesses: null, cgroupFiles: [] };

  test('is empty without limits', () => {
    expect(toPrelude({ limits: {}, ...plain })).toBe('');
    expect(toPrelude({ limits: { treeMemoryBytes: 1e9, maxProcesses: 9 }, ...plain })).toBe('');
  });

  test('enters cgroups first, then calls ulimit, and adds our own processes to the limit', () => {
    const limits = { memoryBytes: 1_025, fileBytes: 1_024, maxProcesses: 9, cpuSeconds: 7 };
    const steps = toPrelude({ limits, ownProcesses: 2, cgroupFiles: ["/a 'b'"] }).split('; ');
    expect(steps.map((step) => step.split(' 2>/dev/null')[0])).toEqual([
      `echo "$$" >'/a '\\''b'\\''' || exit 125`,
      'ulimit -d 2',
      'ulimit -f 1',
      'ulimit -u 11',
      'ulimit -t 9',
      'ulimit -St 7',
    ]);
  });
});

describe('merging two sets of limits', () => {
  test('keeps the tighter of each', () => {
    expect(mergeLimits({ memoryBytes: 5, cpuSeconds: 3 }, { cpuSeconds: 1, fileBytes: 4 })).toEqual({
      memoryBytes: 5,
      cpuSeconds: 1,
      fileBytes: 4,
    });
    expect(mergeLimits({ maxProcesses: 4 })).toEqual({ maxProcesses: 4 });
    expect(mergeLimits({ maxProcesses: 4 }, { maxProcesses: 4 })).toEqual({ maxProcesses: 4 });
  });

  test('refuses a call that asks for more than the settings allow', () => {
    expect(() => mergeLimits({ treeMemoryBytes: 5 }, { treeMemoryBytes: 9 })).toThrow(
      'tree_memory_bytes 9 is more than the 5 that the settings allow',
    );
  });

  test('without any limit is unlimited', () => {
    expect([isUnlimited(mergeLimits({}, {})), isUnlimited({ fileBytes: 1 })]).toEqual([true, false]);
  });
});

describe('the units of the kernel', () => {
  test('are read from the auxiliary vector', () => {
    const words = Buffer.alloc(48);
    words.writeBigUInt64LE(6n, 0);
    words.writeBigUInt64LE(65_536n, 8);
    words.writeBigUInt64LE(17n, 16);
    words.writeBigUInt64LE(250n, 24);
    expect(parseAuxiliaryVector(words)).toEqual({ pageBytes: 65_536, ticksPerSecond: 250 });
    expect(parseAuxiliaryVector(Buffer.alloc(0))).toEqual({ pageBytes: 4_096, ticksPerSecond: 100 });
    expect(systemUnits().ticksPerSecond).toBe(100);
  });

  test.each([
    [256_000_000, '256 MB'],
    [1_500_000, '1.5 MB'],
    [2_147_483_648, '2.1 GB'],
    [2_000, '2 kB'],
    [12, '12 bytes'],
  ])('%d bytes are formatted as %s', (bytes, words) => {
    expect(formatLimit(bytes)).toBe(words);
  });
});
