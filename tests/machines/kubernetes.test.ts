// Pods of a real cluster: that of KUBECONFIG, with the image of NACRE_TEST_IMAGE, which must have bash.
import { describe, expect, onTestFinished, test } from 'vitest';
import { createRemoteBackend } from '../../src/backends/remote/create-remote-backend.ts';
import { createRoad } from '../../src/backends/roads/create-road.ts';
import { callKube } from '../../src/backends/roads/kube-api.ts';
import { readCluster } from '../../src/backends/roads/kubeconfig.ts';
import type { KubernetesRoad } from '../../src/contract/machine.ts';
import { builtWorker } from '../support/build.ts';
import { describeBackend } from '../support/describe-backend.ts';
import { createStart } from '../support/open-backend.ts';
import { readAll } from '../support/read-all.ts';
import { toRemote } from '../support/roads.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { workerOptionsIn } from '../support/worker-options.ts';
import { describeDoors } from './describe-doors.ts';

const { KUBECONFIG, NACRE_TEST_IMAGE: image = 'node:22' } = process.env;
const reason = KUBECONFIG === undefined ? 'KUBECONFIG is not set' : undefined;
const environment = { HOME: '/nonexistent', PATH: process.env.PATH ?? '', KUBECONFIG: KUBECONFIG ?? '' };

const open = (more: Partial<KubernetesRoad> = {}) => {
  const folder = `/tmp/nacre-test-${Math.random().toString(36).slice(2)}`;
  const road = createRoad(
    {
      ...{ name: 'lab', orphanMs: 1_000, limits: {} },
      road: { kind: 'kubernetes', image, deadlineSeconds: 600, env: {}, ...more },
    },
    { program: builtWorker, build: 'test', environment, cwd: temporaryFolder() },
  );
  const options = { ...workerOptionsIn(folder), stateDir: '/tmp/nacre-state', cwd: '/tmp', home: '/root' };
  const backend = createRemoteBackend({ ...toRemote(options), road, elsewhere: {} });
  const close = async () => {
    await backend.close();
    await road.remove?.();
  };
  onTestFinished(close);
  const start = createStart(backend, '/tmp');
  const run = async (script: string) => (await readAll(backend, await start(script))).stdout.trim();
  return { backend, folder: '/tmp', start, run, close };
};

interface Pod {
  readonly metadata: { readonly deletionTimestamp?: string };
}

const pods = async () => {
  const cluster = readCluster('lab', {}, environment);
  const path = `/api/v1/namespaces/${cluster.namespace}/pods?labelSelector=app.kubernetes.io%2Fmanaged-by%3Dnacre`;
  return ((await callKube(cluster, 'GET', path)) as { readonly items: readonly Pod[] }).items;
};

describeBackend('a pod as a backend', open, reason);

describeDoors(
  'a pod',
  () => ({
    entry: `{ kubernetes: { image: ${JSON.stringify(image)}, env: [COLOR=grey] } }`,
    ...{ proof: ['printenv', 'COLOR'], expected: 'grey\n', env: { KUBECONFIG: KUBECONFIG ?? '' } },
  }),
  reason,
);

describe.skipIf(reason !== undefined)('a pod', () => {
  test('has no capability and no token, and is gone with its connection', { timeout: 180_000 }, async () => {
    const { run, close } = open({ cpu: '500m', memory: '512Mi', env: { COLOR: 'grey' } });
    const status = await run('cat /proc/self/status');
    expect(status).toMatch(/CapEff:\t0000000000000000/);
    expect(status).toMatch(/NoNewPrivs:\t1/);
    expect(await run('ls /var/run/secrets 2>/dev/null; echo "COLOR=$COLOR"')).toBe('COLOR=grey');
    expect(await pods()).not.toEqual([]);
    await close();
    expect((await pods()).filter(({ metadata }) => metadata.deletionTimestamp === undefined)).toEqual([]);
    // The node removes them later, and on a busy machine much later.
    await expect.poll(async () => (await pods()).length, { timeout: 110_000, interval: 500 }).toBe(0);
  });

  test('whose image cannot be pulled is reported with the reason within ten seconds', async () => {
    const { backend } = open({ image: '127.0.0.1:9/absent' });
    await expect(backend.open()).rejects.toThrow(
      /does not run yet: .*(?:ImagePull|ErrImage|ContainerCreating)/,
    );
  });
});
