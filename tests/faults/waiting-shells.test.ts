import { expect, test } from 'vitest';
import { findHelper, findWaitingKeeper } from '../support/helper-processes.ts';
import { needLevel } from '../support/needs.ts';
import { openDescriptors } from '../support/processes.ts';
import { createTestWorker, type TestWorker } from '../support/worker.ts';

const supervised = { highestLevel: 'namespace', supervisionRequire: 'namespace' } as const;

async function killWaitingShell(here: TestWorker): Promise<void> {
  await expect.poll(() => findWaitingKeeper(here), { timeout: 20_000 }).toBeDefined();
  const keeper = findWaitingKeeper(here);
  const shell = keeper && findHelper(here, 'shell', keeper);
  if (shell) process.kill(shell, 'SIGKILL');
}

test('waiting shells that die repeatedly leave no descriptor, and the next command works', async (context) => {
  await needLevel(context, 'namespace');
  const here = createTestWorker(supervised);
  try {
    await here.run('true');
    await killWaitingShell(here);
    await here.run('true').catch(() => {});
    const before = openDescriptors();
    for (let round = 0; round < 20; round += 1) {
      await killWaitingShell(here);
      // A command that finds its shell dead before the worker does is reported as lost.
      await here.run('true').catch(() => {});
    }
    expect((await here.run('echo next')).stdout).toBe('next\n');
    // Up to two waiting shells may be starting, each with a few pipes.
    await expect.poll(() => openDescriptors() - before, { timeout: 20_000 }).toBeLessThanOrEqual(12);
  } finally {
    await here.close();
  }
}, 120_000);
