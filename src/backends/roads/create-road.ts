import type { Duplex } from 'node:stream';
import type { MachineSettings } from '../../contract/machine.ts';
import type { FarProgram, Road } from '../../wire/road.ts';
import { spawnFar } from '../../worker/road/spawn-far.ts';
import { createContainerMachine } from './container.ts';
import { createDevcontainerMachine } from './devcontainer.ts';
import { createKubernetesMachine } from './kubernetes.ts';
import { type FarDeps, openFar, type RoadMachine } from './open-far.ts';
import { createSlurmMachine } from './slurm.ts';
import { createSshMachine } from './ssh.ts';

/** Creates the road to the worker of a machine. */
export function createRoad({ name, road }: MachineSettings, deps: FarDeps): Road {
  switch (road.kind) {
    case 'ssh':
      return toRoad(deps, createSshMachine(name, road, deps));
    case 'docker':
    case 'podman':
      return toRoad(deps, createContainerMachine(name, road, deps));
    case 'devcontainer':
      return toRoad(deps, createDevcontainerMachine(name, road, deps));
    case 'kubernetes':
      return toRoad(deps, createKubernetesMachine(name, road, deps));
    case 'slurm':
      return toRoad(deps, createSlurmMachine(name, road, deps));
    case 'program':
      return toProgramRoad(() => spawnFar(road.argv, deps.environment));
  }
}

function toRoad(deps: FarDeps, machine: RoadMachine): Road {
  const { streams, track } = createStreams();
  const tracked: RoadMachine = {
    ...{ name: machine.name, roots: machine.roots, explain: (end) => machine.explain(end) },
    run: async (argv, large) => track(await machine.run(argv, large)),
  };
  return {
    open: () => openFar(tracked, deps),
    async remove() {
      for (const stream of streams) stream.destroy();
      await machine.remove?.();
    },
  };
}

// The program starts a worker itself; its stdin and stdout are the stream.
function toProgramRoad(start: () => FarProgram): Road {
  const { streams, track } = createStreams();
  return {
    open: async () => track(start()).stream,
    async remove() {
      for (const stream of streams) stream.destroy();
    },
  };
}

// The streams of all running programs, including those that install the worker, which may take minutes.
function createStreams() {
  const streams = new Set<Duplex>();
  return {
    streams,
    track(far: FarProgram): FarProgram {
      streams.add(far.stream);
      far.stream.on('close', () => streams.delete(far.stream));
      return far;
    },
  };
}
