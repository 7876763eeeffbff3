// The road into a container of Docker or Podman: a new container per connection, or an existing one.
// 1. find the engine's socket, and remove containers whose server is dead,
// 2. create and start a container, after a pull of its image if necessary,
// 3. run programs in it as execs; `remove` kills the container with everything in it.
import { homedir } from 'node:os';
import type { NacreError } from '../../contract/failure.ts';
import type { ContainerRoad } from '../../contract/machine.ts';
import { randomHex } from '../../support/ids.ts';
import { isObject } from '../../support/is-object.ts';
import { settlesWithin } from '../../support/timing.ts';
import type { FarProgram } from '../../wire/road.ts';
import { startExec } from './container-exec.ts';
import { toContainerSpec } from './container-spec.ts';
import { createEngineApi, type EngineApi, EngineError } from './engine-api.ts';
import { toShown } from './far-messages.ts';
import { findEngineSocket, noPermission, startHints } from './find-engine.ts';
import type { FarDeps, RoadMachine } from './open-far.ts';
import { pullImage } from './pull-image.ts';
import { machineUnusable } from './road-errors.ts';
import { isAbandoned, serverLabelName } from './server-label.ts';

/** A container as a machine. */
export function createContainerMachine(name: string, road: ContainerRoad, deps: FarDeps): RoadMachine {
  const container = new Container(name, road, deps);
  return {
    name,
    // The home of a container's user may be missing or read-only.
    roots: ['~/.cache/nacre', '/tmp/nacre-UID'],
    run: (argv) => container.run(argv),
    explain({ code }) {
      if (code !== 126 && code !== 127) return undefined;
      return machineUnusable(name, 'it has no sh', 'Choose an image that has sh and bash.');
    },
    remove: () => container.remove(),
  };
}

const pullWaitMs = 8_000;
const pingMs = 7_000;

class Container {
  readonly #name: string;
  readonly #road: ContainerRoad;
  readonly #deps: FarDeps;
  #api: EngineApi | undefined;
  #id: Promise<string> | undefined;
  #pulling: Promise<void> | undefined;
  #sweeping: Promise<void> | undefined;
  #isRemoved = false;

  constructor(name: string, road: ContainerRoad, deps: FarDeps) {
    this.#name = name;
    this.#road = road;
    this.#deps = deps;
  }

  async run(argv: readonly string[]): Promise<FarProgram> {
    try {
      return await this.#exec(argv);
    } catch (error) {
      const state = await this.#readState(error);
      const { kind, container } = this.#road;
      if (container !== undefined && state !== 'running')
        throw notRunning(this.#name, kind, container, state);
      if (this.#id === undefined || state === 'running') throw this.#explain(error);
    }
    // The container has ended with its worker, so `#exec` creates a new one.
    this.#id = undefined;
    try {
      return await this.#exec(argv);
    } catch (error) {
      throw this.#explain(error);
    }
  }

  async remove(): Promise<void> {
    this.#isRemoved = true;
    const id = await this.#id?.catch(() => undefined);
    this.#id = undefined;
    if (id !== undefined && this.#road.container === undefined && this.#api) await kill(this.#api, id);
    await this.#sweeping;
  }

  async #exec(argv: readonly string[]): Promise<FarProgram> {
    this.#api ??= createEngineApi(findEngineSocket(this.#name, this.#road, this.#deps.environment));
    await ping(this.#api);
    const { container, user } = this.#road;
    if (container !== undefined) return startExec(this.#api, { container, argv, user });
    this.#id ??= this.#create(this.#api);
    const id = this.#id;
    try {
      return await startExec(this.#api, { container: await id, argv });
    } catch (error) {
      // The next call tries again to create the container.
      await id.catch(() => {
        if (this.#id === id) this.#id = undefined;
      });
      throw error;
    }
  }

  async #create(api: EngineApi): Promise<string> {
    const { pull, image } = this.#road;
    if (pull === 'always' || (pull === 'missing' && !(await hasImage(api, image)))) await this.#pull(api);
    try {
      return await this.#start(api, true);
    } catch (error) {
      if (!(error instanceof EngineError) || error.status === 404) throw error;
      // Some engines are installed without an init program, so try without `Init`.
      return this.#start(api, false).catch(() => {
        throw error;
      });
    }
  }

  async #start(api: EngineApi, hasInit: boolean): Promise<string> {
    const body = toContainerSpec(this.#road, {
      ...{ name: this.#name, cwd: this.#deps.cwd, hasInit },
      home: this.#deps.environment.HOME ?? homedir(),
      ...{ uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 },
      isRootless: await isRootless(api),
    });
    const query = { name: `nacre-${this.#name}-${randomHex(4)}` };
    const created = await api.call({ method: 'POST', path: '/containers/create', query, body });
    const id = isObject(created) && typeof created.Id === 'string' ? created.Id : '';
    try {
      await api.call({ method: 'POST', path: `/containers/${id}/start` });
      if (this.#isRemoved) throw new Error('the connection was closed');
    } catch (error) {
      await kill(api, id);
      throw error;
    }
    this.#sweeping ??= sweep(api);
    return id;
  }

  // A pull may take minutes. It continues in the background, and calls report it instead of hanging.
  async #pull(api: EngineApi): Promise<void> {
    const { image = '', kind } = this.#road;
    this.#pulling ??= pullImage(api, image);
    try {
      if (await settlesWithin(this.#pulling, pullWaitMs)) this.#pulling = undefined;
    } catch (error) {
      this.#pulling = undefined;
      throw machineUnusable(
        this.#name,
        `its image ${image} could not be pulled: ${toShown((error as Error).message)}`,
        `Try it yourself, which uses your credentials: ${kind} pull ${image}`,
        error,
      );
    }
    if (this.#pulling === undefined) return;
    this.#pulling.catch(() => {});
    throw machineUnusable(this.#name, `its image ${image} is still being pulled`, 'Call again in a minute.');
  }

  // Engines return different errors for an exec in a stopped container, so its state is queried instead.
  async #readState(failure: unknown): Promise<ContainerState> {
    const id = this.#road.container ?? (await this.#id?.catch(() => undefined));
    if (!(failure instanceof EngineError) || !this.#api || id === undefined) return 'running';
    return readState(this.#api, id);
  }

  #explain(error: unknown): unknown {
    return explainEngine(this.#name, this.#road, this.#api?.socketPath ?? '', error);
  }
}

/** Converts an error of the engine or its socket to a NacreError with the next step; returns other errors unchanged. */
export function explainEngine(
  name: string,
  { kind, image }: Pick<ContainerRoad, 'kind' | 'image'>,
  socket: string,
  error: unknown,
): NacreError | unknown {
  if (error instanceof EngineError) {
    if (error.status === 404)
      return machineUnusable(name, `${kind} has no image ${image}`, `Pull it: ${kind} pull ${image}`, error);
    const said = toShown(error.message);
    return machineUnusable(name, `${kind} says: ${said}`, `Correct machines.${name} in the settings.`, error);
  }
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'EACCES' || code === 'EPERM') return noPermission(name, kind, socket);
  if (code === 'ENOENT' || code === 'ECONNREFUSED' || code === 'ENOTSOCK')
    return machineUnusable(
      name,
      `${kind} is not running: no engine listens on ${socket}`,
      startHints[kind],
      error,
    );
  if (code === 'ECONNRESET' || code === 'EPIPE' || message === 'it does not answer')
    return machineUnusable(name, `${kind} does not answer at ${socket}`, startHints[kind], error);
  return error;
}

// Other requests may take long on a busy machine; this one shows in time that an engine does not answer.
async function ping(api: EngineApi): Promise<void> {
  try {
    await api.call({ method: 'GET', path: '/_ping', silentMs: pingMs });
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
  }
}

type ContainerState = 'running' | 'stopped' | 'missing';

async function readState(api: EngineApi, id: string): Promise<ContainerState> {
  const path = `/containers/${encodeURIComponent(id)}/json`;
  try {
    const found = await api.call({ method: 'GET', path });
    return isObject(found) && isObject(found.State) && found.State.Running === true ? 'running' : 'stopped';
  } catch (error) {
    if (error instanceof EngineError && error.status === 404) return 'missing';
    throw error;
  }
}

function notRunning(name: string, kind: string, container: string, state: ContainerState): NacreError {
  return state === 'missing'
    ? machineUnusable(name, `${kind} has no container ${container}`, `List them with ${kind} ps -a.`)
    : machineUnusable(
        name,
        `the container ${container} is not running`,
        `Start it: ${kind} start ${container}`,
      );
}

async function hasImage(api: EngineApi, image = ''): Promise<boolean> {
  try {
    await api.call({ method: 'GET', path: `/images/${encodeURIComponent(image)}/json` });
    return true;
  } catch (error) {
    if (error instanceof EngineError && error.status === 404) return false;
    throw error;
  }
}

async function isRootless(api: EngineApi): Promise<boolean> {
  if (process.getuid?.() === 0) return false;
  const info = await api.call({ method: 'GET', path: '/info' });
  const options = isObject(info) && Array.isArray(info.SecurityOptions) ? info.SecurityOptions : [];
  return options.some((option) => typeof option === 'string' && option.includes('rootless'));
}

// With `AutoRemove`, the container may be gone already, so errors are ignored.
async function kill(api: EngineApi, id: string): Promise<void> {
  const query = { force: 'true', v: 'true' };
  await api.call({ method: 'DELETE', path: `/containers/${id}`, query }).catch(() => {});
}

const oldSeconds = 3_600;

// Removes containers of dead servers. `isAbandoned` cannot judge servers of an earlier boot; their containers are stopped and old.
async function sweep(api: EngineApi): Promise<void> {
  const query = { all: 'true', filters: JSON.stringify({ label: [serverLabelName] }) };
  const found = await api.call({ method: 'GET', path: '/containers/json', query }).catch(() => null);
  const left = (Array.isArray(found) ? found : []).filter(isObject).filter(isLeftOver);
  await Promise.all(left.map(({ Id: id }) => kill(api, String(id))));
}

function isLeftOver({
  Labels: labels,
  State: state,
  Created: created,
}: Readonly<Record<string, unknown>>): boolean {
  const label = isObject(labels) ? labels[serverLabelName] : undefined;
  if (typeof label !== 'string') return false;
  const isOld = Number(created) < Date.now() / 1_000 - oldSeconds;
  return isAbandoned(label) || (isOld && state !== 'running');
}
