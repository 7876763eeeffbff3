import type { Duplex } from 'node:stream';
import type { MachineSettings } from '../../contract/machine.ts';
import type { Road } from '../../wire/road.ts';
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
      // The program starts a worker itself; its stdin and stdout are the stream.
      return closingStreams(async () => spawnFar(road.argv, deps.environment).stream);
  }
}

function toRoad(deps: FarDeps, machine: RoadMachine): Road {
  return closingStreams(
    () => openFar(machine, deps),
    async () => machine.remove?.(),
  );
}

function closingStreams(open: () => Promise<Duplex>, remove: () => Promise<void> = async () => {}): Road {
  const streams = new Set<Duplex>();
  return {
    async open() {
      const stream = await open();
      streams.add(stream);
      return stream.on('close', () => streams.delete(stream));
    },
    async remove() {
      for (const stream of streams) stream.destroy();
      await remove();
    },
  };
}
