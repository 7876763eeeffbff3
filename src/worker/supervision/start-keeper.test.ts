import { rmSync } from 'node:fs';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { plainSandboxPlan } from '../../../tests/support/plain-sandbox-plan.ts';
import { processesWith } from '../../../tests/support/processes.ts';
import { soakCount } from '../../../tests/support/soak.ts';
import { temporaryFolder } from '../../../tests/support/temporary-folder.ts';
import { createStopwatch } from '../../support/timing.ts';
import { createFifoPool } from '../io/fifo-pool.ts';
import { toBubblewrapCommand } from '../sandbox/bubblewrap.ts';
import { Lifeline } from './keeper-pool.ts';
import { startKeeper } from './start-keeper.ts';

let folder: string;
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => rmSync(folder, { recursive: true }));

test('E2: a keeper that is discarded at any moment of its start leaves nothing behind', async () => {
  const fifos = createFifoPool(folder);
  const lifeline = new Lifeline(fifos);
  const readEnd = await lifeline.readEnd();
  const env = { PATH: '/usr/bin:/bin', KEEPER: folder };
  const rounds = soakCount(40, 14);
  for (let round = 0; round < rounds; round += 1) {
    const names = await fifos.take(4);
    const keeper = await startKeeper({
      supervisor: toBubblewrapCommand(plainSandboxPlan),
      hasSupervisor: true,
      ownProcesses: 2,
      bashPath: '/bin/bash',
      cwd: '/',
      env,
      fifos: names,
      lifeline: readEnd,
    });
    const elapsed = createStopwatch();
    // Blocks the event loop on purpose, up to 4 ms: the keeper is discarded at different moments.
    while (elapsed() < (4 * round) / rounds);
    await keeper.discard();
  }
  await lifeline.close();
  await fifos.close();
  await expect.poll(() => processesWith(`KEEPER=${folder}`), { timeout: 5_000 }).toEqual([]);
});
