// Pods of a stand-in for a cluster, which speaks either version of the exec protocol.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { builtWorker } from '../../../tests/support/build.ts';
import { describeBackend } from '../../../tests/support/describe-backend.ts';
import { type FakeKubernetes, startFakeKubernetes } from '../../../tests/support/fake-kubernetes.ts';
import { createStart } from '../../../tests/support/open-backend.ts';
import { readAll } from '../../../tests/support/read-all.ts';
import { toRemote } from '../../../tests/support/roads.ts';
import { temporaryFolder } from '../../../tests/support/temporary-folder.ts';
import { workerOptionsIn } from '../../../tests/support/worker-options.ts';
import type { KubernetesRoad } from '../../contract/machine.ts';
import { createRemoteBackend } from '../remote/create-remote-backend.ts';
import { createRoad } from './create-road.ts';
import { toExitCode } from './kube-api.ts';
import { serverLabel, serverLabelName } from './server-label.ts';

describe.each(['v4.channel.k8s.io', 'v5.channel.k8s.io'])('a pod over %s', (protocol) => {
  let cluster: FakeKubernetes;
  beforeAll(async () => {
    cluster = await startFakeKubernetes(protocol, temporaryFolder());
  });
  afterAll(() => cluster.stop());

  const open = (more: Partial<KubernetesRoad> = {}, user: unknown = { token: 'abc' }) => {
    const folder = temporaryFolder();
    const kubeconfig = join(folder, 'config');
    const context = { cluster: 'c', user: 'u', namespace: 'agents' };
    writeFileSync(
      kubeconfig,
      JSON.stringify({
        'current-context': 'here',
        contexts: [{ name: 'here', context }],
        clusters: [{ name: 'c', cluster: { server: cluster.server } }],
        users: [{ name: 'u', user }],
      }),
    );
    const road = createRoad(
      {
        ...{ name: 'lab', orphanMs: 1_000, limits: {} },
        road: {
          kind: 'kubernetes',
          image: 'python:3.12',
          deadlineSeconds: 600,
          env: {},
          kubeconfig,
          ...more,
        },
      },
      { program: builtWorker, build: 'test', environment: { PATH: '/usr/bin:/bin' }, cwd: folder },
    );
    const backend = createRemoteBackend({ ...toRemote(workerOptionsIn(folder)), road });
    const close = async () => {
      if (backend.hasBegun()) await backend.shutdown().catch(() => {});
      await backend.close();
      await road.remove?.();
    };
    onTestFinished(close);
    const start = createStart(backend, folder);
    const run = async (script: string) => (await readAll(backend, await start(script))).stdout.trim();
    return { backend, folder, start, run, close };
  };

  describeBackend('as a backend', open);

  test('has a deadline, limits and no privileges, and is deleted with its connection', async () => {
    const { run, close } = open({ cpu: '2', memory: '4Gi', env: { A: 'b' }, runtimeClass: 'gvisor' });
    expect(await run('echo hi')).toBe('hi');
    expect([cluster.lastToken(), cluster.lastProtocol()]).toEqual(['Bearer abc', protocol]);
    const amounts = { cpu: '2', memory: '4Gi' };
    expect([...cluster.pods.values()]).toMatchObject([
      {
        spec: {
          ...{ activeDeadlineSeconds: 600, automountServiceAccountToken: false, restartPolicy: 'Never' },
          runtimeClassName: 'gvisor',
          containers: [
            {
              ...{ image: 'python:3.12', resources: { limits: amounts }, env: [{ name: 'A', value: 'b' }] },
              securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
            },
          ],
        },
      },
    ]);
    await close();
    expect(cluster.pods.size).toBe(0);
  });

  test('of a server that was killed is deleted by the next one', async () => {
    const label = serverLabel().split(' ').with(2, '4194303').join(' ');
    const add = (name: string, server: string) =>
      cluster.pods.set(name, { metadata: { name, annotations: { [serverLabelName]: server } }, spec: {} });
    add('left', label);
    add('used', serverLabel());
    const { run, close } = open();
    await run('true');
    await close();
    expect([...cluster.pods.keys()]).toEqual(['used']);
    cluster.pods.clear();
  });

  test('uses the token that a credential plugin prints', async () => {
    const credential = { kind: 'ExecCredential', status: { token: 'fresh' } };
    const exec = { command: 'sh', args: ['-c', `echo '${JSON.stringify(credential)}'`] };
    await open({}, { exec }).run('true');
    expect(cluster.lastToken()).toBe('Bearer fresh');
    const broken = open({}, { exec: { command: 'sh', args: ['-c', 'echo "please sign in" >&2; exit 1'] } });
    await expect(broken.backend.open()).rejects.toThrow('printed no credentials: please sign in');
  });
});

test.each([
  [{ status: 'Success' }, 0],
  [{ status: 'Failure', details: { causes: [{ reason: 'ExitCode', message: '127' }] } }, 127],
  [{ status: 'Failure', message: 'container not found' }, null],
  [null, null],
])('the status %j has the exit code %j', (status, code) => {
  expect(toExitCode(status)).toBe(code);
});
