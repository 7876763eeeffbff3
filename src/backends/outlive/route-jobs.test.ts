import { expect, test } from 'vitest';
import type { Backend } from '../../contract/backend.ts';
import type { JobSpec } from '../../contract/job.ts';
import { type DetachedBackend, routeJobs } from './route-jobs.ts';

const background = {
  id: 'cmd_1',
  keeping: { identity: 'me', room: 'r', outlives: true },
} as unknown as JobSpec;

/** A backend that records the jobs that it prepares. */
function createRecorder() {
  const prepared: JobSpec[] = [];
  const prepare = async (spec: JobSpec) => void prepared.push(spec);
  return { backend: { prepare } as unknown as Backend, prepared };
}

function route({ isRequired, opens }: { readonly isRequired: boolean; readonly opens: () => boolean }) {
  const [local, far] = [createRecorder(), createRecorder()];
  const lines: string[] = [];
  const open = async () => {
    if (!opens()) throw new Error('The worker could not be started.');
  };
  const more = { open, hasBegun: () => true, worker: () => '' };
  const detached = { ...far.backend, ...more } as unknown as DetachedBackend;
  const backend = routeJobs(local.backend, detached, {
    ...{ isSandboxed: false, isRequired, hasKept: () => false },
    log: (line) => void lines.push(line),
  });
  return { backend, local: local.prepared, far: far.prepared, lines };
}

test('a background command runs in the detached worker', async () => {
  const { backend, local, far, lines } = route({ isRequired: false, opens: () => true });
  await backend.prepare(background);
  expect(far).toEqual([background]);
  expect([local, lines]).toEqual([[], []]);
});

test('where the worker cannot be started, commands run in this process and do not claim to outlive it', async () => {
  const { backend, local, far, lines } = route({ isRequired: false, opens: () => false });
  await backend.prepare(background);
  await backend.prepare({ ...background, id: 'cmd_2' });
  expect(local).toMatchObject([
    { id: 'cmd_1', keeping: undefined },
    { id: 'cmd_2', keeping: undefined },
  ]);
  expect(far).toEqual([]);
  expect(lines).toEqual([
    'The worker could not be started. Background commands and persistent shells end with this server.',
  ]);
});

test('if the settings require the worker, a command fails without it, and the next one tries again', async () => {
  let works = false;
  const { backend, local, far } = route({ isRequired: true, opens: () => works });
  await expect(backend.prepare(background)).rejects.toThrow('The worker could not be started.');
  works = true;
  await backend.prepare(background);
  expect([local, far]).toEqual([[], [background]]);
});
