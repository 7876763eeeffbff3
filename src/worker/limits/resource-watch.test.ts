import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { createProcProcessTable } from '../processes/proc-process-table.ts';
import { createFoundTree } from '../processes/process-tree.ts';
import { TreeWatch } from './resource-watch.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => void vi.useRealTimers());

function watchIdle() {
  const root = { pid: process.pid, startTime: null, marker: null, elapsed: () => 0 };
  const tree = createFoundTree(root, createProcProcessTable());
  const sample = vi.fn(async () => ({ commandProcesses: [], ownProcesses: [] }));
  const watch = new TreeWatch({
    limits: {},
    tree: { ...tree, sample },
    group: null,
    endedCpuMs: () => null,
    onRelease() {},
  });
  watch.start(() => {});
  return { watch, samples: () => sample.mock.calls.length };
}

test('S7: an idle tree is sampled every second at first, then less and less often', async () => {
  const { watch, samples } = watchIdle();
  await vi.advanceTimersByTimeAsync(8_000);
  expect(samples()).toBeGreaterThanOrEqual(9);
  await vi.advanceTimersByTimeAsync(120_000);
  const afterMinutes = samples();
  await vi.advanceTimersByTimeAsync(80_000);
  expect(samples() - afterMinutes).toBeGreaterThanOrEqual(3);
  expect(samples() - afterMinutes).toBeLessThanOrEqual(6);
  await vi.advanceTimersByTimeAsync(600_000);
  const afterLong = samples();
  await vi.advanceTimersByTimeAsync(600_000);
  expect(samples() - afterLong).toBeGreaterThanOrEqual(18);
  expect(samples() - afterLong).toBeLessThanOrEqual(22);
  watch.stop();
  await vi.advanceTimersByTimeAsync(600_000);
  expect(samples() - afterLong).toBeLessThanOrEqual(22);
});
