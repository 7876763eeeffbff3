import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createStopwatch } from '../../support/timing.ts';
import { type ProcessInfo, selectMembers, type TreeRoot } from './process-table.ts';

const root: TreeRoot = { pid: 100, startTime: '5', marker: 'ID=1', elapsed: createStopwatch() };
const info = (pid: number, parent: number, more: Partial<ProcessInfo> = {}): ProcessInfo => ({
  pid,
  parent,
  group: pid,
  session: pid,
  startTime: '5',
  zombie: false,
  ...more,
});
const members = (processes: readonly ProcessInfo[], marked: readonly number[] = []) =>
  selectMembers(processes, root, ({ pid }) => marked.includes(pid)).map(({ pid }) => pid);

describe('the members of a tree', () => {
  test('are the root, its descendants, its group, its session, processes with the marker, and their descendants', () => {
    const processes = [
      info(1, 0),
      info(100, 1),
      info(101, 100),
      info(102, 101),
      info(103, 1, { group: 100 }),
      info(104, 1, { session: 100 }),
      info(105, 1),
      info(106, 105),
      info(107, 1),
      info(108, 107),
    ];
    expect(members(processes, [105])).toEqual([100, 101, 102, 103, 104, 105, 106]);
  });

  test('do not include zombies, but children of zombies', () => {
    expect(members([info(100, 1, { zombie: true }), info(101, 100)])).toEqual([101]);
  });

  test('are found if the root is gone and its pid is not reused', () => {
    expect(members([info(103, 1, { group: 100 }), info(104, 103)])).toEqual([103, 104]);
  });

  test('do not include a process that reuses the pid of the root, nor its children', () => {
    const stranger = [info(100, 1, { startTime: '9' }), info(101, 100), info(102, 1, { group: 100 })];
    expect(members(stranger)).toEqual([]);
    expect(members([...stranger, info(103, 1)], [103])).toEqual([103]);
  });

  test('are listed once, even if the list of processes has cycles and gaps', () => {
    const processes = fc.array(
      fc.record({
        pid: fc.integer({ min: 95, max: 115 }),
        parent: fc.integer({ min: 90, max: 115 }),
        group: fc.integer({ min: 95, max: 115 }),
        session: fc.integer({ min: 95, max: 115 }),
        startTime: fc.constantFrom('5', '6'),
        zombie: fc.boolean(),
      }),
      { maxLength: 25 },
    );
    fc.assert(
      fc.property(processes, fc.array(fc.integer({ min: 95, max: 115 })), (list, marked) => {
        const unique = [...new Map(list.map((one) => [one.pid, one])).values()];
        const found = members(unique, marked);
        expect(new Set(found).size).toBe(found.length);
        const reused = unique.some(({ pid, startTime }) => pid === 100 && startTime !== '5');
        const has = (pid: number) => unique.some((one) => one.pid === pid && found.includes(pid));
        for (const one of unique) {
          const related = [one.pid, one.parent, one.group, one.session].includes(100) && !reused;
          const closed = related || marked.includes(one.pid) || has(one.parent);
          if (found.includes(one.pid)) expect(one.zombie).toBe(false);
          if (closed && !one.zombie) expect(found).toContain(one.pid);
        }
        if (reused && marked.length === 0) expect(found).toEqual([]);
      }),
    );
  });
});
