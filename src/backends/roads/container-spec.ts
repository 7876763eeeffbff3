import type { ContainerRoad, MountSettings } from '../../contract/machine.ts';
import { expandHome } from '../../support/expand-home.ts';
import { isTooWide } from '../../support/is-too-wide.ts';
import { tryRealpath } from '../../support/try-realpath.ts';
import { machineUnusable } from './road-errors.ts';
import { serverLabel, serverLabelName } from './server-label.ts';

/** The server and engine for which a container is created. */
export interface ContainerPlace {
  /** The machine's name in the settings. */
  readonly name: string;
  /** The server's directory. */
  readonly cwd: string;
  /** The home directory of the server's user. */
  readonly home: string;
  /** The user of the server. */
  readonly uid: number;
  readonly gid: number;
  /** Whether the engine runs without root, so that root in a container is the engine's own user. */
  readonly isRootless: boolean;
  /** Whether to run a small init process as PID 1. */
  readonly hasInit: boolean;
}

/**
 * The main process of a container. It exits after three minutes during which only itself and the init process were
 * running. The worker ends itself without a server, so the container of a killed server exits even if no other server
 * removes it. `sh` reaps orphans if it is PID 1.
 */
export const waitScript = [
  'n=0; while [ $n -lt 3 ]; do sleep 60 || exit 1; n=$((n+1));',
  'for p in /proc/[0-9]*; do case $p in /proc/1|/proc/$$) ;; *) n=0;; esac; done; done',
].join(' ');

/** The request body for a new container: no capabilities, `no-new-privileges`, removed when it ends. */
export function toContainerSpec(
  road: ContainerRoad,
  place: ContainerPlace,
): Readonly<Record<string, unknown>> {
  const mounts = [...workspaceMount(road, place), ...road.mounts];
  return {
    Image: road.image,
    Entrypoint: ['sh', '-c', waitScript],
    Cmd: [],
    ...toUser(road, place),
    Env: Object.entries(road.env).map(([name, value]) => `${name}=${value}`),
    Labels: { [serverLabelName]: serverLabel(), 'io.github.nacre.machine': place.name },
    HostConfig: {
      AutoRemove: true,
      ...(place.hasInit && { Init: true }),
      CapDrop: ['ALL'],
      SecurityOpt: ['no-new-privileges'],
      NetworkMode: toNetwork(road, place),
      Mounts: mounts.map((mount) => toMount(mount, place.home)),
      ...(road.isReadOnly && { ReadonlyRootfs: true, Tmpfs: { '/tmp': writable, '/run': writable } }),
      // `MemorySwap` limits memory and swap together, so the same value means no swap.
      ...(road.memoryBytes !== undefined && { Memory: road.memoryBytes, MemorySwap: road.memoryBytes }),
      ...(road.cpuMillis !== undefined && { NanoCpus: road.cpuMillis * 1_000_000 }),
      ...(road.maxProcesses !== undefined && { PidsLimit: road.maxProcesses }),
    },
  };
}

// The worker and its Node are stored below /tmp if the home cannot be written.
const writable = 'rw,exec,nosuid,nodev,mode=1777';

function workspaceMount(
  { mount }: ContainerRoad,
  { name, cwd, home }: ContainerPlace,
): readonly MountSettings[] {
  if (mount === 'none') return [];
  const folder = tryRealpath(cwd);
  if (isTooWide(folder, home))
    throw machineUnusable(
      name,
      `${folder} is too wide to be mounted into a container`,
      'Start nacre in the folder of a project, or set mount: none for this machine.',
    );
  return [{ source: folder, target: folder, isReadOnly: false }];
}

// Without capabilities, root in a container cannot write files of other users. Commands therefore run as the server's user, who owns
// the workspace. A rootless engine maps that user to root.
function toUser({ user, mount }: ContainerRoad, { uid, gid, isRootless }: ContainerPlace) {
  if (user !== undefined) return { User: user };
  if (mount === 'none' || uid === 0) return {};
  return { User: isRootless ? '0:0' : `${uid}:${gid}` };
}

// Rootless Podman has no bridge of its own; `default` is its usual network.
function toNetwork({ kind, network }: ContainerRoad, { isRootless }: ContainerPlace): string {
  return network === 'bridge' && kind === 'podman' && isRootless ? 'default' : network;
}

function toMount({ source, target, isReadOnly }: MountSettings, home: string) {
  const from = expandHome(source, home);
  return { Type: 'bind', Source: from, Target: target, ReadOnly: isReadOnly };
}
