// A server dies while its network is gone, so the worker on the other machine still considers its connection open.
import { expect, onTestFinished, test } from 'vitest';
import { createRemoteBackend } from '../../src/backends/remote/create-remote-backend.ts';
import { createBrokenRoad } from '../support/broken-road.ts';
import { readAll } from '../support/read-all.ts';
import { createStreamPair, toRemote } from '../support/roads.ts';
import { workerOptionsIn } from '../support/worker-options.ts';

const caller = { door: 'mcp', client: 'test' } as const;
const keeping = { identity: 'me', room: 'first', caller, outlives: true };

const begin = async () => {
  const first = createBrokenRoad();
  const id = await first.start('echo one; sleep 0.5; echo two; exit 7', { keeping });
  const second = createRemoteBackend({
    ...toRemote(workerOptionsIn(first.folder)),
    road: {
      async open() {
        const [near, far] = createStreamPair(0);
        first.host().accept(far);
        return near;
      },
    },
  });
  onTestFinished(() => second.close());
  const startedAt = new Date().toISOString();
  const takeUp = (identity: string, deserted: readonly string[]) =>
    second.takeUpKnown({ identity, room: 'second', deserted }, [{ id, startedAt }], 10_000);
  return { id, second, takeUp };
};

test('a server that names the commands of a dead server takes them over, with every byte of output', async () => {
  const { id, second, takeUp } = await begin();
  expect(await takeUp('me', [id])).toMatchObject([{ state: { status: 'running' } }]);
  expect(await readAll(second, id)).toEqual({ stdout: 'one\ntwo\n', stderr: '' });
  expect(await second.wait(id, 20_000)).toMatchObject({ end: { exitCode: 7 } });
});

test('another client cannot take them over by naming them', async () => {
  const { id, takeUp } = await begin();
  expect(await takeUp('someone else', [id])).toMatchObject([{ state: { status: 'lost' } }]);
});
