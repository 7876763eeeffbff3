import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createBrokenRoad } from '../support/broken-road.ts';

const keeping = {
  ...{ identity: 'me', room: 'me', outlives: true },
  caller: { door: 'cli', client: 'test' },
} as const;

test('the end of a kept command is signed and on disk before any call reports it', async () => {
  const { start, host } = createBrokenRoad();
  for (let round = 0; round < 10; round += 1) {
    const id = await start('exit 3', { keeping });
    const job = host().jobs.get(id)?.job;
    if (!job) throw new Error('The worker does not know the job.');
    let state = await job.state();
    for (; !state.end; state = await job.state()) await setImmediate();
    expect(state).toMatchObject({ end: { exitCode: 3 }, endRecord: { worker: 'worker-1' } });
    expect(existsSync(join(host().folderOf(id), 'end'))).toBe(true);
  }
});
