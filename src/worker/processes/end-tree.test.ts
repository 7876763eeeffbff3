import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { processesWith } from '../../../tests/support/processes.ts';
import { temporaryFolder } from '../../../tests/support/temporary-folder.ts';
import { createStopwatch, sleep } from '../../support/timing.ts';
import { endTree } from './end-tree.ts';
import { createProcProcessTable } from './proc-process-table.ts';
import type { ProcessTable, TreeRoot } from './process-table.ts';

const table = createProcProcessTable();
let mark = '';
let folder = '';
let strangers: ChildProcess[] = [];
beforeEach(() => {
  mark = `TEST_MARK=mark${Math.random()}`;
  folder = temporaryFolder();
  strangers = [];
});
afterEach(async () => {
  // Every process that a test starts exits once this folder is gone.
  rmSync(folder, { recursive: true, force: true });
  for (const stranger of strangers) stranger.kill('SIGKILL');
  await expect.poll(() => processesWith(mark)).toEqual([]);
});

async function start(script: string): Promise<{ root: TreeRoot; exited: Promise<unknown> }> {
  const [name = '', value = ''] = mark.split('=');
  const env = { PATH: '/usr/bin:/bin', [name]: value, GO: folder };
  const child = spawn('bash', ['-c', script], { detached: true, stdio: 'ignore', env });
  const exited = once(child, 'exit');
  await once(child, 'spawn');
  const pid = child.pid ?? 0;
  const startTime = await table.startTime(pid);
  return { root: { pid, startTime, marker: mark, elapsed: createStopwatch() }, exited };
}

const byTerm = { table, signal: 'SIGTERM', graceMs: 300 } as const;
const byKill = { table, signal: 'SIGKILL', graceMs: 0 } as const;

describe('E2: ending a tree', () => {
  test('ends a process that starts new ones while it is being ended', async () => {
    const { root, exited } = await start(
      'trap "" TERM; while [ -d "$GO" ]; do setsid sleep 60 & sleep 61 & sleep 0.002; done',
    );
    await sleep(150);
    expect(await endTree(root, byTerm)).toEqual([]);
    expect(processesWith(mark)).toEqual([]);
    await exited;
  });

  test('ends a chain in which every process starts the next and exits', async () => {
    const generation = 'exit if fork; open my $f, ">>", "$ENV{GO}/beat"; print $f "x"; close $f';
    writeFileSync(join(folder, 'beat'), '');
    const beats = () => statSync(join(folder, 'beat')).size;
    for (let round = 0; round < 5; round += 1) {
      const { root, exited } = await start(`exec perl -e 'while (-d $ENV{GO}) { ${generation} }'`);
      await exited;
      await sleep(10);
      expect(await endTree(root, byTerm)).toEqual([]);
      const before = beats();
      await sleep(30);
      expect(beats()).toBe(before);
    }
  });

  test('sends SIGTERM to stopped processes and continues them', async () => {
    const { root, exited } = await start('trap "touch $GO/polite; exit" TERM; kill -STOP $$; sleep 5');
    await sleep(100);
    expect(await endTree(root, { ...byTerm, graceMs: 3_000 })).toEqual([]);
    await exited;
    expect(existsSync(join(folder, 'polite'))).toBe(true);
  });

  test('spares processes that do not belong to the tree', async () => {
    const stranger = spawn('sleep', ['62'], { env: { PATH: '/usr/bin:/bin', TEST_MARK: 'another' } });
    strangers.push(stranger);
    const neighbour = await start('sleep 63');
    const [name = '', value = ''] = mark.split('=');
    const { root } = await start('sleep 64 & sleep 65');
    const onlyRoot = { ...root, marker: `${name}=not-${value}` };
    await sleep(50);
    expect(await endTree(onlyRoot, byKill)).toEqual([]);
    expect(processesWith(mark)).toEqual([neighbour.root.pid]);
    expect(stranger.exitCode ?? stranger.signalCode).toBeNull();
    await endTree(neighbour.root, byKill);
  });

  test('spares a process that reuses the pid of the root', async () => {
    const { root } = await start('sleep 66');
    expect(await endTree({ ...root, startTime: '1', marker: 'NO=1' }, byKill)).toEqual([]);
    expect(processesWith(mark)).toEqual([root.pid]);
    await endTree(root, byKill);
  });

  test('signals the process group while processes cannot be listed', async () => {
    const blind: ProcessTable = {
      ...table,
      startTime: async () => null,
      members: async () => {
        throw new Error('EMFILE: too many open files');
      },
    };
    const { root, exited } = await start('trap "" TERM; sleep 67 & sleep 68');
    await sleep(50);
    expect(await endTree(root, { ...byTerm, table: blind, graceMs: 100 })).toEqual([]);
    await exited;
    expect(processesWith(mark)).toEqual([]);
  });

  test('returns immediately if nothing is left', async () => {
    const { root, exited } = await start('true');
    await exited;
    const elapsed = createStopwatch();
    expect(await endTree(root, { ...byTerm, graceMs: 20_000 })).toEqual([]);
    expect(elapsed()).toBeLessThan(10_000);
  });
});
