import { expect, test } from 'vitest';
import { createProcProcessTable } from '../processes/proc-process-table.ts';
import type { ProcessInfo } from '../processes/process-table.ts';
import type { Keeper } from './follow-keeper.ts';
import { createNamespaceTree } from './namespace-tree.ts';

// Above what the kernel gives to any process.
const [supervisor, roof, orphan] = [2 ** 22 + 1, 2 ** 22 + 2, 2 ** 22 + 3];

function processOf(pid: number, parent: number): ProcessInfo {
  return { pid, parent, group: pid, session: pid, startTime: String(pid), zombie: false };
}

test('E2: a process that gets another parent while it is looked for keeps its grace', async () => {
  const [top, guest] = [processOf(roof, supervisor), processOf(orphan, roof)];
  const seen = [[top, guest], [top], [top, guest], [top], [top]];
  const keeper = { pid: supervisor, ended: new Promise(() => {}), gone: Promise.resolve(), end() {} };
  const table = { ...createProcProcessTable(), descendants: async () => seen.shift() ?? [top] };
  const tree = createNamespaceTree(keeper as unknown as Keeper, { residents: 1 }, table);
  await tree.end({ signal: 'SIGTERM', graceMs: 5_000 });
  expect(seen).toEqual([]);
});
