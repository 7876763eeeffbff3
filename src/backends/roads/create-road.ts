import type { Duplex } from 'node:stream';
import type { MachineSettings } from '../../contract/machine.ts';
import type { Road } from '../../wire/road.ts';
import { createContainerMachine } from './container.ts';
import { type FarDeps, openFar, type RoadMachine } from './open-far.ts';
import { machineUnusable } from './road-errors.ts';
import { createSshMachine } from './ssh.ts';

/** Creates the road to the worker of a machine. */
export function createRoad({ name, road }: MachineSettings, deps: FarDeps): Road {
  if (road.kind === 'ssh') return toRoad(createSshMachine(name, road, deps), deps);
  if (road.kind === 'docker' || road.kind === 'podman')
    return toRoad(createContainerMachine(name, road, deps), deps);
  throw machineUnusable(name, `there is no road of the kind ${road.kind} yet`, 'Use ssh instead.');
}

function toRoad(machine: RoadMachine, deps: FarDeps): Road {
  const streams = new Set<Duplex>();
  return {
    async open() {
      const stream = await openFar(machine, deps);
      streams.add(stream);
      return stream.on('close', () => streams.delete(stream));
    },
    async remove() {
      for (const stream of streams) stream.destroy();
      await machine.remove?.();
    },
  };
}
