// The road into a pod of a Kubernetes cluster, one per connection.
// 1. read the kubeconfig, and remove pods whose server is dead,
// 2. create a pod with a deadline, and wait until it runs,
// 3. run programs in it over WebSockets; `remove` deletes the pod.
import type { NacreError } from '../../contract/failure.ts';
import type { KubernetesRoad } from '../../contract/machine.ts';
import { randomHex } from '../../support/ids.ts';
import { isObject } from '../../support/is-object.ts';
import { createStopwatch, settlesWithin, sleep } from '../../support/timing.ts';
import type { FarProgram } from '../../wire/road.ts';
import { spawnFar } from '../../worker/road/spawn-far.ts';
import { waitScript } from './container-spec.ts';
import { toShown } from './far-messages.ts';
import { callKube, execInPod, KubeError } from './kube-api.ts';
import { type Cluster, type ExecPlugin, readCluster } from './kubeconfig.ts';
import type { FarDeps, RoadMachine } from './open-far.ts';
import { machineUnusable } from './road-errors.ts';
import { isAbandoned, serverLabel, serverLabelName } from './server-label.ts';

/** A pod as a machine. */
export function createKubernetesMachine(name: string, road: KubernetesRoad, deps: FarDeps): RoadMachine {
  const pod = new Pod(name, road, deps);
  return {
    name,
    roots: ['~/.cache/nacre', '/tmp/nacre-UID'],
    run: (argv) => pod.run(argv),
    explain({ code }) {
      if (code !== 126 && code !== 127) return undefined;
      return machineUnusable(name, 'it has no sh', 'Choose an image that has sh and bash.');
    },
    remove: () => pod.remove(),
  };
}

const readyMs = 8_000;
const pollMs = 150;
const pluginMs = 15_000;

class Pod {
  readonly #name: string;
  readonly #road: KubernetesRoad;
  readonly #deps: FarDeps;
  #cluster: Cluster | undefined;
  #pod: string | undefined;
  #sweeping: Promise<void> | undefined;
  #isRemoved = false;

  constructor(name: string, road: KubernetesRoad, deps: FarDeps) {
    this.#name = name;
    this.#road = road;
    this.#deps = deps;
  }

  async run(argv: readonly string[]): Promise<FarProgram> {
    try {
      const cluster = await this.#connect();
      this.#pod ??= await this.#create(cluster);
      await this.#waitUntilReady(cluster, this.#pod);
      this.#sweeping ??= sweep(cluster);
      return await execInPod(cluster, this.#pod, argv);
    } catch (error) {
      throw this.#explain(error);
    }
  }

  async remove(): Promise<void> {
    this.#isRemoved = true;
    const [cluster, pod] = [this.#cluster, this.#pod];
    this.#pod = undefined;
    if (cluster && pod !== undefined) await deletePod(cluster, pod);
    await this.#sweeping;
  }

  // Tokens from files and plugins expire, so they are read again for each connection.
  async #connect(): Promise<Cluster> {
    const { environment } = this.#deps;
    const cluster = readCluster(this.#name, this.#road, environment);
    this.#cluster = cluster.plugin
      ? await askPlugin(this.#name, cluster, cluster.plugin, environment)
      : cluster;
    return this.#cluster;
  }

  async #create(cluster: Cluster): Promise<string> {
    const spec = toPodSpec(this.#name, this.#road);
    await callKube(cluster, 'POST', podsPath(cluster), spec);
    if (this.#isRemoved) {
      await deletePod(cluster, spec.metadata.name);
      throw new Error('the connection was closed');
    }
    return spec.metadata.name;
  }

  // If the pod was evicted or has reached its deadline, `#pod` is cleared, so that the next call creates a new one.
  async #waitUntilReady(cluster: Cluster, pod: string): Promise<void> {
    const elapsed = createStopwatch();
    for (;;) {
      const { phase, reason } = await readPhase(cluster, pod);
      if (phase === 'Running') return;
      if (phase !== 'Pending') {
        this.#pod = undefined;
        await deletePod(cluster, pod);
        throw machineUnusable(this.#name, `its pod has ended: ${reason}`, 'Call again to get a new one.');
      }
      if (elapsed() > readyMs)
        throw machineUnusable(
          this.#name,
          `its pod ${pod} does not run yet: ${reason}`,
          `Call again in a minute, or look at it: kubectl describe pod ${pod} --namespace ${cluster.namespace}`,
        );
      await sleep(pollMs);
    }
  }

  #explain(error: unknown): unknown {
    const server = this.#cluster?.server.host ?? '';
    const { code, message } = error as NodeJS.ErrnoException;
    if (error instanceof KubeError) {
      const hint = hints[error.status] ?? `Correct machines.${this.#name} in the settings.`;
      return machineUnusable(this.#name, `the cluster at ${server} says: ${toShown(message)}`, hint, error);
    }
    if (code === 'resources_unavailable') return error;
    return machineUnusable(
      this.#name,
      `the cluster at ${server} cannot be reached: ${toShown(message)}`,
      'Check that it runs, and that kubectl get pods works with the same context.',
      error,
    );
  }
}

const hints: Readonly<Record<number, string>> = {
  401: 'Sign in again; kubectl get pods with the same context must work.',
  403: 'Ask for the right to create, get, list and delete pods, and to get and create pods/exec, in this namespace.',
  404: 'Check the namespace of this machine.',
};

/** The pod of a machine: a deadline, no service account token, no capability, no way to gain privileges. */
export function toPodSpec(name: string, road: KubernetesRoad) {
  const amounts = {
    ...(road.cpu !== undefined && { cpu: road.cpu }),
    ...(road.memory !== undefined && { memory: road.memory }),
  };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: `nacre-${name.replaceAll('_', '-')}-${randomHex(4)}`,
      labels: { [managedBy]: 'nacre' },
      annotations: { [serverLabelName]: serverLabel() },
    },
    spec: {
      restartPolicy: 'Never',
      activeDeadlineSeconds: road.deadlineSeconds,
      terminationGracePeriodSeconds: 1,
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      ...(road.serviceAccount !== undefined && { serviceAccountName: road.serviceAccount }),
      ...(road.runtimeClass !== undefined && { runtimeClassName: road.runtimeClass }),
      securityContext: { seccompProfile: { type: 'RuntimeDefault' } },
      containers: [
        {
          name: 'nacre',
          image: road.image,
          imagePullPolicy: 'IfNotPresent',
          command: ['sh', '-c', waitScript],
          env: Object.entries(road.env).map(([key, value]) => ({ name: key, value })),
          resources: { limits: amounts, requests: amounts },
          securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
        },
      ],
    },
  };
}

const managedBy = 'app.kubernetes.io/managed-by';

function podsPath({ namespace }: Cluster): string {
  return `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods`;
}

async function readPhase(
  cluster: Cluster,
  pod: string,
): Promise<{ readonly phase: string; readonly reason: string }> {
  const found = await callKube(cluster, 'GET', `${podsPath(cluster)}/${pod}`).catch((error: unknown) => {
    if (error instanceof KubeError && error.status === 404) return { status: { phase: 'Gone' } };
    throw error;
  });
  const status = isObject(found) && isObject(found.status) ? found.status : {};
  const [container] = toObjects(status.containerStatuses);
  const state = isObject(container?.state) ? container.state : {};
  const why = isObject(state.waiting)
    ? state.waiting
    : isObject(state.terminated)
      ? state.terminated
      : undefined;
  const unscheduled = toObjects(status.conditions).find((one) => one.status === 'False' && one.message);
  const texts = [why?.reason, why?.message, status.reason, status.message, unscheduled?.message];
  const reason = texts.find((text) => typeof text === 'string' && text !== '') ?? status.phase ?? 'unknown';
  const isDeleted =
    isObject(found) && isObject(found.metadata) && found.metadata.deletionTimestamp !== undefined;
  return { phase: isDeleted ? 'Gone' : String(status.phase ?? 'Pending'), reason: toShown(String(reason)) };
}

function toObjects(value: unknown): readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

async function deletePod(cluster: Cluster, pod: string): Promise<void> {
  const path = `${podsPath(cluster)}/${encodeURIComponent(pod)}?gracePeriodSeconds=1`;
  await callKube(cluster, 'DELETE', path).catch(() => {});
}

async function sweep(cluster: Cluster): Promise<void> {
  const path = `${podsPath(cluster)}?labelSelector=${encodeURIComponent(`${managedBy}=nacre`)}`;
  const list = await callKube(cluster, 'GET', path).catch(() => null);
  const left = toObjects(isObject(list) ? list.items : []).flatMap(({ metadata }) => {
    const { name, annotations } = isObject(metadata) ? metadata : {};
    const label = isObject(annotations) ? annotations[serverLabelName] : undefined;
    return typeof name === 'string' && typeof label === 'string' && isAbandoned(label) ? [name] : [];
  });
  await Promise.all(left.map((pod) => deletePod(cluster, pod)));
}

// Runs the credential plugin of the kubeconfig as kubectl does, without a shell and without a terminal.
async function askPlugin(
  name: string,
  cluster: Cluster,
  { argv, env, apiVersion }: ExecPlugin,
  environment: Readonly<Record<string, string>>,
): Promise<Cluster> {
  const info = { apiVersion, kind: 'ExecCredential', spec: { interactive: false } };
  const { stream, ended } = spawnFar(argv, {
    ...environment,
    ...env,
    KUBERNETES_EXEC_INFO: JSON.stringify(info),
  });
  // `ended` reports the failure.
  stream.on('error', () => {});
  const output = stream.toArray().catch(() => []);
  const isInTime = await settlesWithin(output, pluginMs);
  stream.destroy();
  const status = readCredential(Buffer.concat((await output) as Buffer[]).toString());
  if (!status) {
    const { stderr } = isInTime ? await ended : { stderr: `no answer within ${pluginMs / 1_000} s` };
    throw noCredential(name, argv[0], stderr);
  }
  const cert = toText(status.clientCertificateData) ?? cluster.tls.cert;
  const key = toText(status.clientKeyData) ?? cluster.tls.key;
  return { ...cluster, tls: { ...cluster.tls, cert, key }, token: toText(status.token) ?? cluster.token };
}

function readCredential(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const found: unknown = JSON.parse(text);
    return isObject(found) && isObject(found.status) ? found.status : undefined;
  } catch {
    return undefined;
  }
}

function noCredential(name: string, program: string, stderr: string): NacreError {
  return machineUnusable(
    name,
    `the credential plugin ${program} printed no credentials: ${toShown(stderr)}`,
    'Sign in again; kubectl get pods with the same context must work without questions.',
  );
}

function toText(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
