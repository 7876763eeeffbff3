// The contract of a backend over real ssh: as root and as an ordinary user, on machines without Node.js or bubblewrap, with a login shell that
// prints a banner, with /bin/sh as login shell, and behind a jump host.
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { createRemoteBackend } from '../../src/backends/remote/create-remote-backend.ts';
import { createRoad } from '../../src/backends/roads/create-road.ts';
import { builtWorker } from '../support/build.ts';
import { describeBackend } from '../support/describe-backend.ts';
import { createStart } from '../support/open-backend.ts';
import { readAll } from '../support/read-all.ts';
import { toRemote } from '../support/roads.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { workerOptionsIn } from '../support/worker-options.ts';
import { startHosts, type TestHosts, whyNoHosts } from './hosts/start-ssh.ts';

const reason = whyNoHosts();
let hosts: TestHosts;
beforeAll(() => {
  if (reason === undefined) hosts = startHosts(3, ['2:node', '2:bwrap', '3:bwrap']);
});
afterAll(() => {
  hosts?.stop();
});

const open = (host: string) => {
  const environment = { HOME: '/root', PATH: process.env.PATH ?? '' };
  const road = createRoad(
    { name: 'far', orphanMs: 1_000, limits: {}, road: { kind: 'ssh', host, config: hosts.config } },
    { program: builtWorker, build: 'test', environment, cwd: '/' },
  );
  const options = toRemote(workerOptionsIn(temporaryFolder()));
  // The first connection to a machine without Node.js uploads it.
  const backend = createRemoteBackend({
    ...options,
    road: { firstPatienceMs: 120_000, ...road },
    elsewhere: {},
  });
  onTestFinished(async () => {
    await backend.close();
    await road.remove?.();
  });

  return { backend, folder: '~', start: createStart(backend, '/tmp') };
};

const places = [
  ['an ordinary user', 'h1'],
  ['root', 'root@h1'],
  ['a user whose login shell prints a banner', 'loud@h1'],
  ['a user whose login shell is /bin/sh', 'posix@h1'],
  ['a machine without Node.js and bubblewrap', 'h2'],
  ['root on a machine without bubblewrap', 'root@h3'],
  ['a machine behind a jump host', 'h3-by-h1'],
] as const;

for (const [title, host] of places) describeBackend(`ssh to ${title}`, () => open(host), reason);

test.skipIf(reason !== undefined)('each result reports how its machine supervised the command', async () => {
  const levels = await Promise.all(
    ['h1', 'h2', 'h3'].map(async (host) => {
      const { backend, start } = open(host);
      const id = await start('true');
      await readAll(backend, id);
      return (await backend.wait(id, 20_000)).enforcement?.level;
    }),
  );
  expect(levels[0]).toBe('namespace');
  expect(levels.slice(1)).not.toContain('namespace');
});

test.skipIf(reason !== undefined)('these tests leave no process on any machine', async () => {
  for (const index of [1, 2, 3]) await expect.poll(() => hosts.processes(index)).toEqual([]);
});
