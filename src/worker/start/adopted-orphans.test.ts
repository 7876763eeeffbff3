import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { processesWith } from '../../../tests/support/processes.ts';
import { createTestSession, type TestSession } from '../../../tests/support/session.ts';

let here: TestSession;
beforeEach(() => {
  here = createTestSession({ highestLevel: 'group' });
});
afterEach(() => here.closeCompletely());

let labels = 0;
/** A script that starts a process without environment, session or parent, and waits until it has none; and how to find it. */
function createOrphan() {
  const seconds = `77${process.pid}.${labels++}`;
  const file = join(here.folder, 'started');
  const own = `setsid env -i bash -c 'echo > "$0"; exec sleep ${seconds}' ${file}`;
  return {
    script: `(${own} </dev/null >/dev/null 2>&1 &); until [[ -s ${file} ]]; do sleep 0.01; done; echo up`,
    pids: () => processesWith(`sleep\0${seconds}`),
    seconds,
  };
}

/** Starts a script and waits for its first output. */
async function start(script: string, session?: string): Promise<string> {
  const id = await here.start(script, { session });
  await here.worker.read(id, 0, { waitMs: 20_000, maxBytes: 100 });
  return id;
}

test('E2: stopping a command also ends a process that has left its group, session and environment', async () => {
  const orphan = createOrphan();
  const id = await start(`${orphan.script}; sleep 7733`);
  const state = await here.worker.stop(id, { signal: 'SIGTERM', graceMs: 2_000 });
  expect(state.end).toMatchObject({ cause: 'stopped', survivors: [] });
  expect(orphan.pids()).toEqual([]);
});

test('a command that ends by itself reports such a process, which is ended', async () => {
  const orphan = createOrphan();
  const { state } = await here.run(orphan.script);
  expect(state.end?.leftRunning).toMatchObject([
    { command: expect.stringContaining(`sleep ${orphan.seconds}`) },
  ]);
  expect(orphan.pids()).toEqual([]);
});

test('while another command runs that could have started it, such a process keeps running until that one ends', async () => {
  const other = await start('echo up; sleep 7734');
  const orphan = createOrphan();
  await here.run(orphan.script);
  await expect.poll(orphan.pids).toHaveLength(1);
  await here.worker.stop(other, { signal: 'SIGTERM', graceMs: 2_000 });
  expect(orphan.pids()).toEqual([]);
});

test('closing a session ends such a process of the session', async () => {
  const orphan = createOrphan();
  await start(orphan.script, 'main');
  expect(await here.worker.closeSession('main')).toEqual({ survivors: [] });
  expect(orphan.pids()).toEqual([]);
});
