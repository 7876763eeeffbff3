import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { runChild } from '../../../tests/support/child.ts';
import { needLevel, needPrograms } from '../../../tests/support/needs.ts';
import { processesWith } from '../../../tests/support/processes.ts';
import { createTestWorker, type TestWorker } from '../../../tests/support/worker.ts';
import { supervisionLevels } from '../../contract/isolation.ts';
import type { Limits } from '../../contract/limits.ts';
import { createCgroups } from './cgroups.ts';
import { findCgroupParents } from './find-cgroup-parents.ts';

// Even without limits these are bounded: one allocation of 2 GiB, four of 512 MiB, 3000 processes that end soon.
const allocate = (bytes: string) => `perl -e '$x = "a" x (${bytes}); print length $x; sleep 3'`;
const four = `for i in 1 2 3 4; do ${allocate('2**29')} & done; wait`;
const storm = `perl -e 'for (1..3000) { my $p = fork; die "fork: $!" unless defined $p; if (!$p) { sleep 9; exit } } sleep 9'`;
const canMakeGroups = createCgroups('probe-of-tests').create('x', { maxProcesses: 10 });
await canMakeGroups?.remove();

const groupsLeft = () =>
  findCgroupParents({ mayEnable: false }).flatMap(({ folder }) =>
    existsSync(folder) ? readdirSync(folder).filter((name) => name.includes(`-${process.pid}-`)) : [],
  );

const ways = [
  { highestLevel: 'namespace', cgroups: true },
  { highestLevel: 'namespace', cgroups: false },
  { highestLevel: 'unshare', cgroups: true },
  { highestLevel: 'group', cgroups: true },
  { highestLevel: 'group', cgroups: false },
] as const;

describe.each(ways)('S5: limits at level $highestLevel, cgroups $cgroups', (way) => {
  let here: TestWorker;
  beforeEach(async (context) => {
    here = createTestWorker({ ...way, supervisionRequire: way.highestLevel, killGraceMs: 200 });
    needPrograms(context, 'perl');
    await needLevel(context, way.highestLevel);
  });
  afterEach(async () => {
    await here.close();
    // Waiting shells die shortly after their keeper.
    await expect.poll(() => processesWith(here.folder), { timeout: 5_000 }).toEqual([]);
    expect(groupsLeft()).toEqual([]);
  });
  const end = async (script: string, limits: Limits) => {
    const { state } = await here.run(script, { limits, timeoutMs: 15_000 });
    return { ...state.end, status: state.status, gaps: state.enforcement?.gaps ?? [] };
  };
  const isEnforced = way.cgroups && canMakeGroups !== null;

  test('2 GiB in one process exceed the limit of the process', async () => {
    const found = await end(allocate('2**31'), { memoryBytes: 200_000_000 });
    expect(found).toMatchObject({ status: 'killed', cause: 'oom' });
    expect(found.detail).toMatch(/Out of memory.*200 MB/);
  });

  test('2 GiB in four processes exceed the limit of the tree', async () => {
    const found = await end(four, { treeMemoryBytes: 250_000_000 });
    expect(found).toMatchObject({ status: 'killed', cause: 'oom' });
    expect(found.detail).toMatch(
      isEnforced ? /more than 250 MB.*the kernel killed/ : /used [\d.]+ [MG]B .* limit of 250 MB/,
    );
    expect(found.gaps.some((gap) => gap.includes('memory of the whole process tree'))).toBe(!isEnforced);
  });

  test('a fork bomb is limited or ended, and another command runs meanwhile', async () => {
    const id = await here.start(storm, { limits: { maxProcesses: 50 }, timeoutMs: 15_000 });
    expect((await here.run('echo still here')).stdout).toBe('still here\n');
    const { end: found, resources } = await here.worker.wait(id, 15_000);
    expect(found).toMatchObject({ cause: 'processes' });
    expect(found?.detail).toMatch(/50/);
    expect(resources?.processes ?? 0).toBeLessThan(isEnforced ? 51 : 3_000);
  });

  // A cgroup has no part in RLIMIT_CPU.
  if (way.cgroups)
    test('SIGXCPU ends a command that used up its CPU time', async () => {
      const found = await end('while :; do :; done', { cpuSeconds: 1 });
      expect(found).toMatchObject({ cause: 'cpu', signal: 'SIGXCPU' });
      expect(found.detail).toMatch(/a process may use at most 1 s/);
    });

  test('a file does not grow above the limit', async () => {
    const found = await end('head -c 3000000 /dev/zero > big', { fileBytes: 1_024_000 });
    expect(found).toMatchObject({ cause: 'file_size', exitCode: 153 });
    expect((await here.run('stat -c %s big')).stdout).toBe('1024000\n');
  });

  test('a command below its limits runs as usual, with or without a shell', async () => {
    const limits = {
      memoryBytes: 5e8,
      treeMemoryBytes: 5e8,
      maxProcesses: 50,
      cpuSeconds: 9,
      fileBytes: 1e6,
    };
    const { state, stdout } = await here.run('', {
      limits,
      command: { kind: 'argv', argv: ['printf', '%s|', 'a b', "it's", '$HOME'] },
    });
    expect([state.end?.cause, state.end?.detail, stdout]).toEqual(['exit', null, "a b|it's|$HOME|"]);
    const missing = here.run('', { limits, command: { kind: 'argv', argv: ['no-such-program'] } });
    await expect(missing).rejects.toMatchObject({ code: 'program_not_found' });
    expect((await here.run('echo a; nowhere', { limits })).stderr).toMatch(/line \d+: nowhere/);
  });
});

describe('limits', () => {
  beforeEach((context) => needPrograms(context, 'perl'));

  test('S5: a call can tighten the limits of the settings, and cannot raise them', async () => {
    const here = createTestWorker({ highestLevel: 'namespace', fileBytes: 2_048, memoryBytes: 300_000_000 });
    const seen = async (limits: Limits) => (await here.run('ulimit -f; ulimit -d', { limits })).stdout;
    expect(await seen({})).toBe('2\n292969\n');
    expect(await seen({ fileBytes: 2_048, memoryBytes: 100_000_000 })).toBe('2\n97657\n');
    await expect(seen({ fileBytes: 4_096 })).rejects.toThrow('file_bytes 4096 is more than the 2048');
    await here.close();
  });

  test.for(['workspace', 'strict'] as const)(
    'S5: are enforced in the sandbox %s',
    async (sandbox, context) => {
      await needLevel(context, 'namespace');
      const here = createTestWorker({ highestLevel: 'namespace', supervisionRequire: 'namespace' });
      const cwd = mkdtempSync('/var/tmp/nacre-limits-');
      const found = await here.run(storm, { cwd, isolation: { sandbox }, limits: { maxProcesses: 50 } });
      expect(found.state.end).toMatchObject({ cause: 'processes', detail: expect.stringContaining('50') });
      expect(found.state.enforcement?.gaps).not.toContain('As root, a command can raise its own limits.');
      await here.close();
      rmSync(cwd, { recursive: true });
    },
  );

  test('S5: a signal that no limit explains is not attributed to a limit', async () => {
    const here = createTestWorker();
    const limits = {
      cpuSeconds: 60,
      memoryBytes: 1e9,
      fileBytes: 1e6,
      maxProcesses: 100,
      treeMemoryBytes: 1e9,
    };
    const { state } = await here.run('kill -9 $$', { limits });
    expect(state.end).toMatchObject({ cause: 'exit', exitCode: 137, detail: null });
    await here.close();
  });

  test('S5: a program that ignores SIGXCPU is ended by SIGKILL', async () => {
    const here = createTestWorker({ highestLevel: 'namespace' });
    const { state } = await here.run('trap "" XCPU; while :; do :; done', { limits: { cpuSeconds: 1 } });
    expect(state.end).toMatchObject({ cause: 'cpu', signal: 'SIGKILL' });
    await here.close();
  }, 60_000);

  test('S5: are enforced for an ordinary user', async () => {
    expect(await runChild('limited-user')).toEqual({
      counts: ['bwrap 4', expect.stringMatching(/^\w+ 4$/), 'perl 4'],
      memory: 'oom',
      tree: 'oom',
      storm: 'processes',
      cpu: 'cpu',
      file: 'file_size',
      after: 'still here\n',
    });
  });
});

describe('S7: the resources of a command', () => {
  beforeEach((context) => needPrograms(context, 'perl'));

  test.for(supervisionLevels)('are known while it runs, at level %s', async (highestLevel, context) => {
    await needLevel(context, highestLevel);
    const here = createTestWorker({ highestLevel, supervisionRequire: highestLevel });
    const script = `perl -e '$x = "a" x 80_000_000; $_++ for 1..2e7; sleep 60' & sleep 60`;
    const id = await here.start(script);
    await expect
      .poll(async () => (await here.worker.wait(id, 0)).resources?.peakMemoryBytes, { timeout: 10_000 })
      .toBeGreaterThan(80_000_000);
    await expect
      .poll(async () => (await here.worker.wait(id, 0)).resources?.cpuMs, { timeout: 10_000 })
      .toBeGreaterThan(200);
    const { resources } = await here.worker.stop(id, { signal: 'SIGKILL', graceMs: 0 });
    expect(resources?.processes).toBe(3);
    expect(resources?.peakMemoryBytes).toBeLessThan(400_000_000);
    await here.close();
  });

  test('are null for a command that ended before the first sample, except for its exact CPU time', async (context) => {
    await needLevel(context, 'namespace');
    const here = createTestWorker({ highestLevel: 'namespace' });
    const { state } = await here.run('true');
    expect(state.resources).toEqual({
      cpuMs: expect.any(Number),
      peakMemoryBytes: null,
      processes: null,
      readBytes: null,
      writtenBytes: null,
    });
    const busy = await here.run(`perl -e '$_++ for 1..1e7; my @t = times; print $t[0] + $t[1]'`);
    const ownMs = Number(busy.stdout) * 1_000;
    expect(ownMs).toBeGreaterThan(50);
    expect(busy.state.resources?.cpuMs).toBeGreaterThanOrEqual(ownMs - 20);
    expect(busy.state.resources?.cpuMs).toBeLessThan(ownMs + 200);
    await here.close();
  });
});
