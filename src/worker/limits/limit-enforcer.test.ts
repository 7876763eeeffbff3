import { expect, test } from 'vitest';
import { createTestWorker } from '../../../tests/support/worker.ts';
import { createPsProcessTable } from '../processes/ps-process-table.ts';
import { countsPerNamespace, createLimitEnforcer } from './limit-enforcer.ts';

const plan = {
  id: 'cmd',
  asked: undefined,
  hasNamespace: true,
  cannotRaiseLimits: false,
  entry: 'caller',
} as const;
const limits = { maxProcesses: 9, treeMemoryBytes: 5e8, cpuSeconds: 3 };

test('without limits the prelude is empty and there are no gaps', () => {
  const applied = createLimitEnforcer({ limits: {}, cgroups: null, isRoot: true }).apply(plan);
  expect(applied).toMatchObject({ group: null, gaps: [] });
  expect(applied.toPrelude(2)).toBe('');
});

test('limits that the kernel does not enforce are gaps, and so are the privileges of root', () => {
  const gaps = (isRoot: boolean, cannotRaiseLimits: boolean) =>
    createLimitEnforcer({ limits, cgroups: null, isRoot })
      .apply({ ...plan, cannotRaiseLimits: cannotRaiseLimits })
      .gaps.join(' ');
  expect(gaps(true, false)).toMatch(/memory of the whole process tree.*number of processes.*As root/);
  expect(gaps(true, true)).not.toMatch(/As root/);
  expect(gaps(false, false)).not.toMatch(/As root|number of processes/);
});

test('RLIMIT_NPROC counts by namespace since Linux 5.14', () => {
  const versions = ['5.13.9', '5.14.0-rc1', '6.1.0-18-amd64', '4.19', 'unknown'];
  expect(versions.map(countsPerNamespace)).toEqual([false, true, true, false, false]);
});

test('S7: figures that the process table does not have are null, and processes are still counted', async () => {
  const here = createTestWorker({ table: createPsProcessTable(), cgroups: false });
  const { state } = await here.run('sleep 0.5');
  expect(state.resources).toEqual({
    cpuMs: null,
    peakMemoryBytes: null,
    processes: null,
    readBytes: null,
    writtenBytes: null,
  });
  const storm = await here.run('for i in {1..30}; do sleep 9 & done; wait', { limits: { maxProcesses: 20 } });
  expect(storm.state.end).toMatchObject({
    cause: 'processes',
    detail: expect.stringContaining('limit of 20'),
  });
  await here.close();
});
