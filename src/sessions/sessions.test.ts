import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createTestEngine } from '../../tests/support/engine.ts';
import { createTestWorker, type TestWorker } from '../../tests/support/worker.ts';
import type { Backend } from '../contract/backend.ts';
import type { JobSpec } from '../contract/job.ts';
import { createSessions, type Sessions } from './sessions.ts';

let here: TestWorker;
let backend: Backend;
beforeEach(() => {
  here = createTestWorker();
  backend = { abilities: { killTree: 'group' }, ...here.worker };
});
afterEach(async () => {
  vi.useRealTimers();
  await here.close();
});

const spec = (id: string, script = 'true'): JobSpec => ({
  id,
  command: { kind: 'shell', script },
  cwd: here.folder,
  env: {},
  stdin: 'empty',
  timeoutMs: null,
});
const start = async (sessions: Sessions, job: JobSpec) => {
  try {
    await sessions.prepare(job);
    await sessions.start(job.id);
  } catch (error) {
    await sessions.discard(job.id);
    throw error;
  }
};
const ids = async () => (await backend.list()).map(({ id }) => id);

describe('sessions', () => {
  test('reject a command beyond max_running and name the limit', async () => {
    const sessions = createSessions(backend, { maxRunning: 2, tombstoneSeconds: 60 });
    await Promise.all([start(sessions, spec('a', 'sleep 5')), start(sessions, spec('b', 'sleep 5'))]);
    await expect(start(sessions, spec('c'))).rejects.toMatchObject({
      code: 'resources_unavailable',
      message: expect.stringContaining('2 commands'),
      hint: expect.stringContaining('max_running'),
    });
    await backend.stop('a', { signal: 'SIGKILL', graceMs: 0 });
    sessions.ended('a');
    sessions.ended('a');
    await start(sessions, spec('d'));
    await expect(start(sessions, spec('e'))).rejects.toMatchObject({ code: 'resources_unavailable' });
    sessions.close();
  });

  test('do not count a command that could not start', async () => {
    const sessions = createSessions(backend, { maxRunning: 1, tombstoneSeconds: 60 });
    const missing: JobSpec = { ...spec('a'), command: { kind: 'argv', argv: ['no-such-program'] } };
    for (let round = 0; round < 3; round += 1) {
      await expect(start(sessions, missing)).rejects.toMatchObject({ code: 'program_not_found' });
    }
    await start(sessions, spec('b'));
    sessions.close();
  });

  test('discard a prepared command without running it', async () => {
    const own = createTestWorker({ highestLevel: 'namespace' });
    const sessions = createSessions(
      { abilities: { killTree: 'all' }, ...own.worker },
      { maxRunning: 1, tombstoneSeconds: 60 },
    );
    const made = join(own.folder, 'made');
    const touch = { ...spec('a', `touch ${made}`), cwd: own.folder };
    await sessions.prepare(touch, { owner: 'me' });
    expect(await own.worker.list()).toHaveLength(1);
    await sessions.discard('a');
    expect(await own.worker.list()).toEqual([]);
    expect(existsSync(made)).toBe(false);
    await start(sessions, { ...touch, id: 'b' });
    expect((await own.worker.wait('b', 20_000)).status).toBe('completed');
    expect(existsSync(made)).toBe(true);
    sessions.close();
    await own.close();
  });

  test('forget an ended command after tombstoneSeconds', async () => {
    const sessions = createSessions(backend, { maxRunning: 5, tombstoneSeconds: 60 });
    await start(sessions, spec('a', 'echo kept'));
    await backend.wait('a', 5_000);
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    sessions.ended('a');
    vi.advanceTimersByTime(59_000);
    expect(await ids()).toEqual(['a']);
    vi.advanceTimersByTime(1_001);
    vi.useRealTimers();
    await expect.poll(ids).toEqual([]);
    sessions.close();
  });

  test('forget the oldest ended commands beyond a fixed number', async () => {
    const sessions = createSessions(backend, { maxRunning: 300, tombstoneSeconds: 60 });
    const many = Array.from({ length: 260 }, (_, index) => `job-${index}`);
    for (const id of many) {
      await start(sessions, { ...spec(id), command: { kind: 'argv', argv: [here.folder] } });
      sessions.ended(id);
    }
    await expect.poll(async () => (await ids()).length).toBe(256);
    expect(await ids()).not.toContain('job-3');
    expect(await ids()).toContain('job-4');
    sessions.close();
  });

  test('forget a command only after its outcome was read', async () => {
    const calls: string[] = [];
    const engine = createTestEngine({
      wrap: (local) => ({
        ...local,
        read(...words) {
          calls.push('read');
          return local.read(...words);
        },
        list: local.list,
        dispose(id) {
          calls.push('dispose');
          return local.dispose(id);
        },
      }),
      tombstoneSeconds: 0,
    });
    expect(await engine.run('echo x')).toMatchObject({ stdout: 'x\n' });
    await expect.poll(() => calls).toEqual(['read', 'dispose']);
    await engine.close();
  });
});
