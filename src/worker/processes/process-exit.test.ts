import { expect, test } from 'vitest';
import { toExit, toExitStatus } from './process-exit.ts';

test('a status of 128+N is the end by signal N, under its usual name', () => {
  expect(toExit(0)).toEqual({ code: 0, signal: null });
  expect(toExit(126)).toEqual({ code: 126, signal: null });
  expect(toExit(137)).toEqual({ code: null, signal: 'SIGKILL' });
  expect(toExit(134)).toEqual({ code: null, signal: 'SIGABRT' });
  // A real-time signal has no name in Node.
  expect(toExit(168)).toEqual({ code: 168, signal: null });
});

test('an exit is converted back to the same status', () => {
  for (const status of [0, 1, 126, 130, 137, 143, 168]) expect(toExitStatus(toExit(status))).toBe(status);
});
