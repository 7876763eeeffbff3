import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createProcProcessTable } from '../processes/proc-process-table.ts';
import { createFoundTree } from '../processes/process-tree.ts';
import { createWatch } from './create-watch.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

function watchIdle() {
  const root = { pid: process.pid, startTime: null, marker: null, elapsed: () => 0 };
  const tree = createFoundTree(root, createProcProcessTable());
  const glance = vi.fn(async () => ({ commandProcesses: [], ownProcesses: [] }));
  const watch = createWatch({
    limits: {},
    tree: { ...tree, sample: glance },
    group: null,
    endedCpuMs: () => null,
    onRelease() {},
  });
  watch.begin(() => {});
  return { watch, looks: () => glance.mock.calls.length };
}

test('S7: a tree that waits is looked at every second for a while, then less and less often', async () => {
  const { watch, looks } = watchIdle();
  await vi.advanceTimersByTimeAsync(8_000);
  expect(looks()).toBeGreaterThanOrEqual(9);
  await vi.advanceTimersByTimeAsync(120_000);
  const before = looks();
  await vi.advanceTimersByTimeAsync(80_000);
  expect(looks() - before).toBeGreaterThanOrEqual(9);
  expect(looks() - before).toBeLessThanOrEqual(12);
  watch.end();
  await vi.advanceTimersByTimeAsync(80_000);
  expect(looks() - before).toBeLessThanOrEqual(12);
});
