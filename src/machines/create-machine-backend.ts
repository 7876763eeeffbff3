import { createRemoteBackend, type RemoteOptions } from '../backends/remote/create-remote-backend.ts';
import { createRoad } from '../backends/roads/create-road.ts';
import type { FarDeps } from '../backends/roads/open-far.ts';
import type { MachineSettings, RoadSettings } from '../contract/machine.ts';
import type { MachineBackend } from './route-machines.ts';

/** The server's part of every machine. */
export interface MachineDeps extends FarDeps {
  /** The server's directory, which containers mount. */
  readonly cwd: string;
  /** The settings of workers; none of them names a path or a variable of this machine. */
  readonly options: Readonly<Record<string, unknown>>;
  readonly tombstoneMs: number;
}

// A network that is gone for longer than this has usually ended the wait of every caller as well.
const graceMs = 60_000;
const patienceMs = 9_000;
const answerMs = 45_000;
// The first connection may upload Node.js or pull an image; the road itself ends an attempt that makes no progress.
const firstPatienceMs = 900_000;

/** Creates the backend of a machine, which is connected to when it is first used. */
export function createMachineBackend(machine: MachineSettings, deps: MachineDeps): MachineBackend {
  const road = createUsableRoad(machine, deps);
  const backend = createRemoteBackend({
    ...toMachineOptions(machine, deps),
    mode: 'use',
    endsAll: true,
    road: { patienceMs, firstPatienceMs, answerMs, ...road },
  });
  return {
    ...backend,
    async close() {
      await backend.close();
      await road.remove?.();
    },
  };
}

// A machine that cannot be used must not keep the server from the others.
function createUsableRoad(machine: MachineSettings, deps: MachineDeps): ReturnType<typeof createRoad> {
  try {
    return createRoad(machine, deps);
  } catch (error) {
    return {
      async open() {
        throw error;
      },
    };
  }
}

/** The options of a connection to a machine. */
export function toMachineOptions(
  { limits, sandbox, orphanMs, road }: MachineSettings,
  { build, tombstoneMs, cwd, options }: MachineDeps,
): Omit<RemoteOptions, 'road' | 'mode'> {
  return {
    ...{ build, orphanMs, tombstoneMs, graceMs },
    options: { ...options, ...limits, ...(sandbox && { sandbox }) },
    elsewhere: { cwd: sharesWorkspace(road) ? cwd : undefined },
    // Each command has the list of its caller.
    execAllow: () => undefined,
  };
}

/** True if the server's directory has the same path there. */
function sharesWorkspace(road: RoadSettings): boolean {
  return road.kind === 'devcontainer' || ('mount' in road && road.mount === 'workspace');
}
