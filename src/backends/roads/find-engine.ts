// Finds the Unix socket of Docker or Podman in the order in which their own clients look for it.
import { createHash } from 'node:crypto';
import { accessSync, constants, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ContainerRoad } from '../../contract/machine.ts';
import { isObject } from '../../support/is-object.ts';
import { machineUnusable } from './road-errors.ts';

type Environment = Readonly<Record<string, string>>;

/** The engine that the settings of a container name. */
export type EngineChoice = Pick<ContainerRoad, 'kind' | 'host'>;

/** The path of the engine's socket; throws if the address is not a Unix socket, or if there is none at the usual places. */
export function findEngineSocket(
  name: string,
  { kind, host }: EngineChoice,
  environment: Environment,
): string {
  const given =
    host ?? (kind === 'docker' ? dockerAddress(name, environment) : environment.CONTAINER_HOST) ?? '';
  if (given !== '') return toSocketPath(name, kind, given);
  const places = kind === 'docker' ? dockerSockets(environment) : podmanSockets(environment);
  const usable = places.find((place) => canAccess(place, constants.R_OK | constants.W_OK));
  if (usable !== undefined) return usable;
  const present = places.find((place) => canAccess(place, constants.F_OK));
  if (present !== undefined) throw noPermission(name, kind, present);
  throw machineUnusable(name, `${kind} has no socket at ${places.join(' or ')}`, startHints[kind]);
}

/** The hint for an engine that is not running. */
export const startHints = {
  docker: 'Start Docker, such as with systemctl start docker, or set docker.host of this machine.',
  podman:
    'Start its socket, such as with systemctl --user start podman.socket, or set podman.host of this machine.',
} as const;

const permissionHints = {
  docker: 'Join the group docker, whose members are as powerful as root, or use rootless Docker or Podman.',
  podman: 'Start the socket of your own user: systemctl --user start podman.socket',
} as const;

/** The error for a socket that this user may not use. */
export function noPermission(name: string, kind: EngineChoice['kind'], socket: string) {
  return machineUnusable(name, `you may not use the socket ${socket} of ${kind}`, permissionHints[kind]);
}

function toSocketPath(name: string, kind: EngineChoice['kind'], address: string): string {
  const [, path] = /^(?:unix:\/\/)?(\/.+)$/.exec(address) ?? [];
  if (path !== undefined) return path;
  throw machineUnusable(
    name,
    `the address of ${kind} is ${JSON.stringify(address)}, but only Unix sockets are supported`,
    'Forward the socket, such as with ssh -nNT -L /tmp/engine.sock:/var/run/docker.sock HOST, and set host to unix:///tmp/engine.sock.',
  );
}

// As in the command line of Docker: DOCKER_HOST, then the context of DOCKER_CONTEXT or of the configuration.
function dockerAddress(name: string, environment: Environment): string | undefined {
  if (environment.DOCKER_HOST) return environment.DOCKER_HOST;
  const folder = environment.DOCKER_CONFIG ?? join(environment.HOME ?? '/', '.docker');
  const context = environment.DOCKER_CONTEXT ?? readField(join(folder, 'config.json'), 'currentContext');
  if (context === undefined || context === '' || context === 'default') return undefined;
  const digest = createHash('sha256').update(context).digest('hex');
  const meta = join(folder, 'contexts/meta', digest, 'meta.json');
  const address = readField(meta, 'Endpoints', 'docker', 'Host');
  if (address !== undefined) return address;
  throw machineUnusable(
    name,
    `the Docker context ${JSON.stringify(context)} has no readable address in ${meta}`,
    'List the contexts with docker context ls, or set docker.host of this machine.',
  );
}

function readField(path: string, ...keys: readonly string[]): string | undefined {
  try {
    const found = keys.reduce<unknown>(
      (value, key) => (isObject(value) ? value[key] : undefined),
      JSON.parse(readFileSync(path, 'utf8')),
    );
    return typeof found === 'string' ? found : undefined;
  } catch {
    return undefined;
  }
}

function dockerSockets({ XDG_RUNTIME_DIR: runtime, HOME: home }: Environment): readonly string[] {
  return [
    '/var/run/docker.sock',
    ...(runtime ? [join(runtime, 'docker.sock')] : []),
    ...(home ? [join(home, '.docker/run/docker.sock'), join(home, '.docker/desktop/docker.sock')] : []),
  ];
}

function podmanSockets({ XDG_RUNTIME_DIR: runtime }: Environment): readonly string[] {
  return [...(runtime ? [join(runtime, 'podman/podman.sock')] : []), '/run/podman/podman.sock'];
}

function canAccess(path: string, mode: number): boolean {
  try {
    accessSync(path, mode);
    return true;
  } catch {
    return false;
  }
}
