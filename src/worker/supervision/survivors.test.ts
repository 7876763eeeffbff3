import { spawn } from 'node:child_process';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { runChild } from '../../../tests/support/child.ts';
import { startDescendants } from '../../../tests/support/descendants.ts';
import { processesWith } from '../../../tests/support/processes.ts';
import { createTestWorker, type TestWorker } from '../../../tests/support/worker.ts';

const descendants = startDescendants(`1001.${process.pid}`);
const sleepers = () => processesWith(`sleep\u00001001.${process.pid}`).filter((pid) => pid !== process.pid);

describe.each(['unshare', 'namespace'] as const)(
  'E2: at level %s none of seven descendants survives',
  (level) => {
    let here: TestWorker;
    beforeEach(() => {
      here = createTestWorker({ highestLevel: level, supervisionRequire: level, killGraceMs: 200 });
    });
    afterEach(async () => {
      await here.close();
      expect(sleepers()).toEqual([]);
    });
    const begin = async (last: string, timeoutMs: number | null = null) => {
      const id = await here.start(`${descendants}\nsleep 0.2; echo up\n${last}`, { timeoutMs });
      await here.worker.read(id, 0, { waitMs: 5_000, maxBytes: 10 });
      expect(sleepers().length).toBeGreaterThanOrEqual(6);
      return id;
    };

    test('the end of the command itself, which lists them', async () => {
      const id = await begin('exit 0');
      const { end } = await here.worker.wait(id, 10_000);
      expect(sleepers()).toEqual([]);
      expect(end?.leftRunning.length).toBeGreaterThanOrEqual(6);
      expect(end?.survivors).toEqual([]);
    });

    test('an `ended` message that the command has forged', async () => {
      const message = String.raw`ended 0 $n 0m0.000s 0m0.000s\n0m0.000s 0m0.000s\n\0`;
      const keeper = level === 'namespace' ? 2 : 1;
      const { state } = await here.run(
        `n=${keeper}; printf "${message}" > /proc/${keeper}/fd/3; trap '' TERM; sleep 1001.${process.pid}; sleep 1001.${process.pid}`,
      );
      expect(state.status).toBe('completed');
      await expect.poll(sleepers, { timeout: 10_000 }).toEqual([]);
    });

    test('a stop with SIGTERM, and an unrelated process is not harmed', async () => {
      const stranger = spawn('sleep', ['2001'], { detached: true, stdio: 'ignore' });
      await here.worker.stop(await begin('sleep 60'), { signal: 'SIGTERM', graceMs: 200 });
      expect(sleepers()).toEqual([]);
      await here.run('true');
      expect(stranger.exitCode ?? stranger.signalCode).toBeNull();
      stranger.kill('SIGKILL');
    });

    test('the end of the worker', async () => {
      await begin('sleep 60');
      await here.worker.close();
      expect(sleepers()).toEqual([]);
    });

    // Both levels end a namespace with the same code (`NamespaceTree`), so one of them is enough here.
    if (level === 'namespace') {
      test('a timeout', async () => {
        const state = await here.worker.wait(await begin('sleep 60', 600), 10_000);
        expect(state.status).toBe('timeout');
        expect(sleepers()).toEqual([]);
      });

      test.each(['SIGKILL', 'SIGINT'] as const)('a stop with %s', async (signal) => {
        await here.worker.stop(await begin('sleep 60'), { signal, graceMs: 200 });
        expect(sleepers()).toEqual([]);
      });
    }
  },
);

test('E2: none of them survives for an ordinary user', async () => {
  const nothing = { hadMany: true, survivors: 0 };
  const ways = ['exit', 'timeout', 'stop', 'close'];
  const expected = ['unshare', 'namespace'].flatMap((level) =>
    ways.map((way) => [`${level} ${way}`, nothing]),
  );
  expect(await runChild('survivors')).toEqual(Object.fromEntries(expected));
});
