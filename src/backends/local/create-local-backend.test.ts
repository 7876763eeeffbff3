import { rmSync } from 'node:fs';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../../../tests/support/temporary-folder.ts';
import { workerOptionsIn } from '../../../tests/support/worker-options.ts';
import { backends } from '../catalog.ts';

test('the local backend starts commands from this process and reports what it cannot enforce', async () => {
  const folder = temporaryFolder();
  const backend = await backends.local(workerOptionsIn(folder));
  expect(backend.abilities).toEqual({ killTree: 'group' });
  expect((await backend.report()).gaps).not.toEqual([]);
  // Its parent is the fork server, a child of this process.
  const script = 'read -r _ _ _ parent _ </proc/$PPID/stat; echo $parent';
  const command = { kind: 'shell', script } as const;
  await backend.prepare({ id: 'a', command, cwd: folder, env: {}, stdin: 'empty', timeoutMs: null });
  await backend.start('a');
  await backend.wait('a', 5_000);
  const { chunks } = await backend.read('a', 0, { waitMs: 0, maxBytes: 100 });
  expect(Number(Buffer.concat(chunks.map(({ data }) => data)))).toBe(process.pid);
  await backend.close();
  rmSync(folder, { recursive: true });
});

test('S6: environmentSecrets returns the values that the rules withhold, before anything runs', async () => {
  const folder = temporaryFolder();
  const environment = { PATH: '/usr/bin:/bin', DB_PASSWORD: 'hunter2', PLAIN: 'seen', HELD: 'unseen' };
  const backend = await backends.local({ ...workerOptionsIn(folder), environment });
  const secrets = (envPass: readonly string[], envWithhold: readonly string[]) =>
    backend.environmentSecrets({ envPass, envWithhold });
  expect(await secrets([], [])).toEqual(['hunter2']);
  expect(await secrets(['DB_PASSWORD'], ['HELD'])).toEqual(['unseen']);
  await backend.warmUp();
  expect((await backend.report()).withheldEnv).toEqual(['DB_PASSWORD']);
  await backend.close();
  rmSync(folder, { recursive: true });
});
