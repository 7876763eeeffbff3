// Counts, as an ordinary user, the processes that survive each way in which a command can end.
import { startDescendants } from '../support/descendants.ts';
import { becomeOrdinaryUser } from '../support/ordinary-user.ts';
import { processesWith } from '../support/processes.ts';
import { createTestWorker } from '../support/worker.ts';
import { report } from './report.ts';

becomeOrdinaryUser();
const label = '6001';
const sleepers = () => processesWith(`sleep\0${label}`).length;
const found: Record<string, unknown> = {};
for (const level of ['unshare', 'namespace'] as const) {
  const here = createTestWorker({ highestLevel: level, supervisionRequire: level, killGraceMs: 200 });
  const begin = async (last: string, timeoutMs: number | null = null) => {
    const id = await here.start(`${startDescendants(label)}\nsleep 0.3; echo up\n${last}`, { timeoutMs });
    await here.worker.read(id, 0, { waitMs: 10_000, maxBytes: 10 });
    return { id, begun: sleepers() };
  };
  const ends = {
    exit: async () => {
      const { id, begun } = await begin('sleep 0.3');
      await here.worker.wait(id, 10_000);
      return begun;
    },
    timeout: async () => {
      const { id, begun } = await begin('sleep 60', 2_000);
      await here.worker.wait(id, 10_000);
      return begun;
    },
    stop: async () => {
      const { id, begun } = await begin('sleep 60');
      await here.worker.stop(id, { signal: 'SIGTERM', graceMs: 200 });
      return begun;
    },
    close: async () => {
      const { begun } = await begin('sleep 60');
      await here.close();
      return begun;
    },
  };
  for (const [name, end] of Object.entries(ends)) {
    const begun = await end();
    found[`${level} ${name}`] = { hadMany: begun >= 7, survivors: sleepers() };
  }
}
report(found);
