import { expect, test } from 'vitest';
import { createProcProcessTable } from '../processes/proc-process-table.ts';
import type { ProcessInfo } from '../processes/process-table.ts';
import type { Keeper } from './follow-keeper.ts';
import { NamespaceTree } from './namespace-tree.ts';

// Above the highest pid that the kernel assigns.
const [supervisorPid, initPid, orphanPid] = [2 ** 22 + 1, 2 ** 22 + 2, 2 ** 22 + 3];

function processOf(pid: number, parent: number): ProcessInfo {
  return { pid, parent, group: pid, session: pid, startTime: String(pid), zombie: false };
}

test('E2: a process that is missed once because its parent changes still gets its grace', async () => {
  const [init, orphan] = [processOf(initPid, supervisorPid), processOf(orphanPid, initPid)];
  const samples = [[init, orphan], [init], [init, orphan], [init], [init]];
  const keeper = {
    pid: supervisorPid,
    hasSupervisor: true,
    ownProcesses: 1,
    ended: new Promise(() => {}),
    gone: Promise.resolve(),
    end() {},
  };
  const table = { ...createProcProcessTable(), descendants: async () => samples.shift() ?? [init] };
  const tree = new NamespaceTree(keeper as unknown as Keeper, table);
  await tree.end({ signal: 'SIGTERM', graceMs: 5_000 });
  expect(samples).toEqual([]);
});
