import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createTestEngine, type TestEngine } from '../../../tests/support/engine.ts';
import { createTestWorker } from '../../../tests/support/worker.ts';
import type { Backend } from '../../contract/backend.ts';
import { sleep } from '../../support/timing.ts';
import type { Progress } from '../context/call-context.ts';
import { watchProgress } from './watch-progress.ts';

let here: TestEngine;
let seen: Progress[];
const onProgress = (progress: Progress) => void seen.push(progress);
beforeEach(() => {
  here = createTestEngine();
  seen = [];
});
afterEach(() => here.close());

describe('B17: progress', () => {
  test('is reported about once a second while a command prints, and not after its reply', async () => {
    await here.run('echo one; echo two; sleep 1.3; echo three >&2; sleep 1; echo four', {}, { onProgress });
    const count = seen.length;
    expect(seen[0]).toEqual({ elapsedMs: expect.any(Number), bytes: 8, lines: 2, lastLine: 'two' });
    expect(seen[1]).toMatchObject({ bytes: 14, lines: 3, lastLine: 'three' });
    expect(count).toBe(2);
    await sleep(1_200);
    expect(seen).toHaveLength(count);
  });

  test('of very fast output has its size and newest line, but no line count', async () => {
    const script = 'yes "some line" | head -c 30000000; echo the newest; sleep 3';
    await here.run(script, {}, { onProgress });
    expect(seen.at(-1)).toMatchObject({ bytes: 30_000_011, lines: null, lastLine: 'the newest' });
  });

  test('survives a listener that throws', async () => {
    const failing = () => {
      throw new Error('gone');
    };
    expect(await here.run('echo a; sleep 1.2; echo b', {}, { onProgress: failing })).toMatchObject({
      stdout: 'a\nb\n',
    });
  });

  test('of a silent command is reported every eighth tick, so that the client keeps waiting', async () => {
    const worker = createTestWorker();
    const id = await worker.start('sleep 30');
    const backend = { abilities: { killTree: 'group' }, ...worker.worker } as const;
    const stop = watchProgress(backend, id, onProgress, 20);
    await expect.poll(() => seen.length).toBe(2);
    stop();
    expect(seen[0]).toEqual({ elapsedMs: expect.any(Number), bytes: 0, lines: 0, lastLine: '' });
    expect(seen[0]?.elapsedMs).toBeGreaterThanOrEqual(150);
    await worker.close();
  });

  test('is not reported after stop(), although a poll is running', async () => {
    const worker = createTestWorker();
    const id = await worker.start('echo x; sleep 30');
    const backend: Backend = {
      abilities: { killTree: 'group' },
      ...worker.worker,
      async read(...args) {
        await sleep(60);
        return worker.worker.read(...args);
      },
    };
    const stop = watchProgress(backend, id, onProgress, 10);
    await sleep(30);
    stop();
    await sleep(80);
    expect(seen).toEqual([]);
    await worker.close();
  });
});
