import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fc from 'fast-check';
import { afterEach, describe, expect, test } from 'vitest';
import { createStopwatch } from '../../support/timing.ts';
import { createProcessTable } from './create-process-table.ts';
import { createProcProcessTable, parseStat, startedAfter } from './proc-process-table.ts';

/** A /proc/PID/stat line with a name, a state and a number of threads. */
const stat = (name: string, state = 'S', threads = 1) =>
  `4242 (${name}) ${state} 17 4200 4100 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 ${threads} 0 987654 1 2 3\n`;

describe('parseStat', () => {
  test.each(['bash', 'a) b (c', ') Z 1 2 3', '((', '', ' ', 'a\nb', '4242 (x) Z'])(
    'reads a process named %j',
    (name) => {
      expect(parseStat(stat(name))).toEqual({
        pid: 4242,
        parent: 17,
        group: 4200,
        session: 4100,
        startTime: '987654',
        zombie: false,
        usage: { cpuMs: 110, childrenCpuMs: 150, residentBytes: 2 * 4_096, threads: 1 },
      });
    },
  );

  test('reads any name', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 15 }), (name) => {
        expect(parseStat(stat(name))).toMatchObject({ pid: 4242, parent: 17, startTime: '987654' });
      }),
    );
  });

  test('E2: a process whose main thread has exited is a zombie only if no other thread runs', () => {
    expect(parseStat(stat('x', 'Z'))?.zombie).toBe(true);
    expect(parseStat(stat('x', 'X', 0))?.zombie).toBe(true);
    expect(parseStat(stat('x', 'Z', 2))?.zombie).toBe(false);
  });

  test.each(['', 'nonsense', '12 (x)', '12 (x) S 1 2'])('returns null for %j', (line) => {
    expect(parseStat(line)).toBeNull();
  });
});

describe('startedAfter', () => {
  test('accepts the pids from the first to the last', () => {
    expect([99, 100, 101, 120, 121].filter(startedAfter(100, 120))).toEqual([100, 101, 120]);
  });

  test('accepts pids at both ends if the counter has wrapped', () => {
    expect([1, 300, 301, 30_000, 30_001].filter(startedAfter(30_000, 300))).toEqual([1, 300, 30_000, 30_001]);
  });
});

describe('the process table of /proc', () => {
  const table = createProcProcessTable();
  const children: ReturnType<typeof spawn>[] = [];
  const start = async (env: Record<string, string> = {}) => {
    const child = spawn('sleep', ['40'], { detached: true, env: { PATH: '/usr/bin:/bin', ...env } });
    children.push(child);
    await once(child, 'spawn');
    return child.pid ?? 0;
  };
  afterEach(async () => {
    for (const child of children.splice(0)) {
      const gone = once(child, 'exit');
      child.kill('SIGKILL');
      await gone;
    }
  });
  const pidsOf = async (root: Parameters<typeof table.members>[0]) =>
    (await table.members(root)).map(({ pid }) => pid);

  test('is used where there is a /proc', () => {
    expect(createProcessTable().name).toBe('/proc');
  });

  test('finds a living process by its pid and start time, and no other', async () => {
    const [first, second] = [await start(), await start()];
    const startTime = await table.startTime(first);
    expect(startTime).toMatch(/^\d+$/);
    expect(await table.startTime(999_999_999)).toBeNull();
    expect(await table.describe(first)).toBe('sleep 40');
    expect(await table.describe(999_999_999)).toBe('process 999999999');
    const elapsed = createStopwatch();
    expect(await pidsOf({ pid: first, startTime, marker: 'NO=1', elapsed })).toEqual([first]);
    expect(await pidsOf({ pid: first, startTime: 'other', marker: 'NO=1', elapsed })).toEqual([]);
    expect(second).toBeGreaterThan(0);
  });

  test('lists a root and its descendants, and nothing for another process with its pid', async () => {
    const shell = spawn('sh', ['-c', '(sleep 40 & wait) & wait'], { env: { PATH: '/usr/bin:/bin' } });
    children.push(shell);
    await once(shell, 'spawn');
    const pid = shell.pid ?? 0;
    const startTime = await table.startTime(pid);
    const found = () => table.descendants({ pid, startTime });
    await expect.poll(async () => (await found()).length).toBe(3);
    expect((await found())[0]).toMatchObject({ pid, startTime });
    expect(await table.descendants({ pid, startTime: 'other' })).toEqual([]);
    expect(await table.descendants({ pid: 999_999_999, startTime })).toEqual([]);
    for (const one of (await found()).slice(1)) process.kill(one.pid, 'SIGKILL');
  });

  test('describes a process by its command line', async () => {
    const shell = spawn('sh', ['-c', 'true & exec sleep 40'], { env: { PATH: '/usr/bin:/bin' } });
    children.push(shell);
    await once(shell, 'spawn');
    const elapsed = createStopwatch();
    const root = { pid: shell.pid ?? 0, startTime: null, marker: 'NO=1', elapsed };
    await expect.poll(() => table.describe(root.pid)).toBe('sleep 40');
    await expect.poll(() => pidsOf(root)).toEqual([root.pid]);
  });

  test('E2: finds a member with a lower pid than the root, once the pid counter may have wrapped', async () => {
    // The process with the lower pid has the marker of a root with a higher one, as after the counter has wrapped.
    const member = await start({ TEST_MARKER: 'wrapped' });
    const rootPid = await start();
    const startTime = await table.startTime(member);
    const root = { pid: rootPid, startTime, marker: 'TEST_MARKER=wrapped' };
    expect(await pidsOf({ ...root, elapsed: () => 3_600_000_000 })).toEqual(expect.arrayContaining([member]));
  });

  test('ignores the marker of a process that is older than the root', async () => {
    const older = await start({ TEST_MARKER: 'older' });
    await new Promise((resolve) => setTimeout(resolve, 30));
    const rootPid = await start();
    const startTime = await table.startTime(rootPid);
    const root = { pid: rootPid, startTime, marker: 'TEST_MARKER=older', elapsed: () => 3_600_000_000 };
    expect(await pidsOf(root)).not.toContain(older);
  });
});
