// The contract of a backend on every road to a worker. NACRE_TEST_ROAD=json runs the tests of src/engine on that road.
import { expect, onTestFinished, test } from 'vitest';
import { createStopwatch } from '../../src/support/timing.ts';
import { describeBackend } from '../support/describe-backend.ts';
import { createTestEngine } from '../support/engine.ts';
import { createStart } from '../support/open-backend.ts';
import { createRoadBackend, roadNames } from '../support/roads.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { workerOptionsIn } from '../support/worker-options.ts';

for (const road of roadNames)
  describeBackend(`the road ${road}`, () => {
    const folder = temporaryFolder();
    const backend = createRoadBackend(workerOptionsIn(folder), folder, road);
    onTestFinished(() => backend.close());
    return { backend, folder, start: createStart(backend, folder) };
  });

// The machine may be busy, so the fastest of some runs counts.
test('a command needs two round trips, and a prompt at a terminal not many more', {
  timeout: 60_000,
}, async () => {
  const here = createTestEngine({ road: 'json-100' });
  onTestFinished(() => here.close());
  await here.run('true');
  const fastest = async (step: () => Promise<unknown>, enoughMs: number) => {
    let best = Number.POSITIVE_INFINITY;
    for (let round = 0; round < 40 && best >= enoughMs; round += 1) {
      const elapsed = createStopwatch();
      await step();
      best = Math.min(best, elapsed());
    }
    return best;
  };
  expect(await fastest(() => here.run('echo a b'), 250)).toBeLessThan(250);
  const context = { caller: { door: 'cli', client: 'test' }, owner: 'tester' } as const;
  const query = {
    waitMs: 10_000,
    untilInput: true,
    keep: 'beginning',
    view: 'raw',
    maxChars: 1_000,
  } as const;
  const prompted: string[] = [];
  const prompt = async () => {
    const id = await here.start('read -p "name? " x', { terminal: { cols: 80, rows: 24 } });
    const reading = await here.engine.read(id, { ...query, howToReadOn: () => '' }, context);
    expect(reading.wakeReason).toBe('awaiting_input');
    prompted.push(id);
  };
  expect(await fastest(prompt, 350)).toBeLessThan(350);
  for (const id of prompted) await here.engine.stop(id, { signal: 'SIGKILL', graceMs: 0 }, context);
});
