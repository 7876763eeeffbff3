import { maskFarSecrets } from '../backends/layers/mask-far-secrets.ts';
import { createRemoteBackend } from '../backends/remote/create-remote-backend.ts';
import type { RemoteOptions } from '../backends/remote/remote-options.ts';
import { createRoad } from '../backends/roads/create-road.ts';
import type { FarDeps } from '../backends/roads/open-far.ts';
import type { EnvironmentRules } from '../contract/job.ts';
import type { MachineSettings, RoadSettings } from '../contract/machine.ts';
import type { MachineBackend } from './route-machines.ts';

/** Values of the server that every machine backend needs. */
export interface MachineDeps extends FarDeps {
  /** The server's directory, which containers mount. */
  readonly cwd: string;
  /** Options of the worker, without paths or environment variables of this machine. */
  readonly options: Readonly<Record<string, unknown>>;
  readonly tombstoneMs: number;
  /** Rules for which variables of a machine are secrets, besides those that `looksSecret` recognises. */
  readonly secretRules: EnvironmentRules;
  /** True if secrets of a machine are masked in the output of its commands. */
  readonly redactOutput: boolean;
}

// After a longer network outage, callers have usually timed out as well.
const graceMs = 60_000;
const patienceMs = 9_000;
const answerMs = 45_000;
// The first connection may upload Node.js or pull an image; the road itself ends an attempt that makes no progress.
const firstPatienceMs = 900_000;

/** Creates the backend of a machine. The first call opens the connection. In the mode `view`, `close` stops no job. */
export function createMachineBackend(
  machine: MachineSettings,
  deps: MachineDeps,
  mode: 'use' | 'view' = 'use',
): MachineBackend {
  const road = createUsableRoad(machine, deps);
  const keepsJobs = keepsJobsOf(machine.road);
  const backend = createRemoteBackend({
    ...toMachineOptions(machine, deps),
    mode,
    endsAll: !keepsJobs,
    road: { patienceMs, firstPatienceMs, answerMs, ...road },
  });
  const masked = deps.redactOutput ? maskFarSecrets(backend) : backend;
  return {
    ...masked,
    keepsJobs,
    async wait(id, waitMs) {
      const { outlives, ...state } = await backend.wait(id, waitMs);
      return keepsJobs && outlives ? { ...state, outlives } : state;
    },
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
  { build, tombstoneMs, cwd, options, secretRules }: MachineDeps,
): Omit<RemoteOptions, 'road' | 'mode'> {
  return {
    ...{ build, orphanMs, tombstoneMs, graceMs },
    options: { ...options, ...limits, ...(sandbox && { sandbox }) },
    elsewhere: { cwd: sharesWorkspace(road) ? cwd : undefined, secretRules },
    // The list depends on the caller, so each command carries its own.
    execAllow: () => undefined,
  };
}

/** False for a machine, such as a container, that is created for a connection and removed with it. */
function keepsJobsOf(road: RoadSettings): boolean {
  switch (road.kind) {
    case 'ssh':
    case 'program':
      return true;
    case 'docker':
    case 'podman':
      return road.container !== undefined;
    case 'devcontainer':
    case 'kubernetes':
    case 'slurm':
      return false;
  }
}

/** True if the server's directory is mounted there at the same path. */
function sharesWorkspace(road: RoadSettings): boolean {
  return road.kind === 'devcontainer' || ('mount' in road && road.mount === 'workspace');
}
