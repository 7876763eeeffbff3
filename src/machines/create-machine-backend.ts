import { createRemoteBackend, type RemoteOptions } from '../backends/remote/create-remote-backend.ts';
import { createRoad } from '../backends/roads/create-road.ts';
import type { FarDeps } from '../backends/roads/open-far.ts';
import type { MachineSettings, RoadSettings } from '../contract/machine.ts';
import type { MachineBackend } from './route-machines.ts';

/** Values of the server that every machine backend needs. */
export interface MachineDeps extends FarDeps {
  /** The server's directory, which containers mount. */
  readonly cwd: string;
  /** Options of the worker, without paths or environment variables of this machine. */
  readonly options: Readonly<Record<string, unknown>>;
  readonly tombstoneMs: number;
}

// After a longer network outage, every caller has usually timed out as well.
const graceMs = 60_000;
const patienceMs = 9_000;
const answerMs = 45_000;
// The first connection may upload Node.js or pull an image; the road itself ends an attempt that makes no progress.
const firstPatienceMs = 900_000;

/** Creates the backend of a machine. The first call opens the connection. */
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

// An error of `createRoad` is reported when this machine is used, so that the server can start and use the others.
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
    // The list depends on the caller, so each command carries its own.
    execAllow: () => undefined,
  };
}

/** True if the server's directory is mounted there at the same path. */
function sharesWorkspace(road: RoadSettings): boolean {
  return road.kind === 'devcontainer' || ('mount' in road && road.mount === 'workspace');
}
