import { createRemoteBackend } from '../backends/remote/create-remote-backend.ts';
import { createRoad } from '../backends/roads/create-road.ts';
import { NacreError, toNacreError } from '../contract/failure.ts';
import type { MachineExamination, MachineSettings } from '../contract/machine.ts';
import { createStopwatch, settlesWithin } from '../support/timing.ts';
import { type MachineDeps, toMachineOptions } from './create-machine-backend.ts';

/** Connects to a machine, measures the connection and reads its `report()`. Never rejects: errors are in `problem` and `hint`. */
export async function tryMachine(
  machine: MachineSettings,
  deps: MachineDeps,
  withinMs: number,
): Promise<MachineExamination> {
  const { name, description } = machine;
  const known = { name, description, road: machine.road.kind };
  const elapsed = createStopwatch();
  try {
    const road = createRoad(machine, deps);
    const options = toMachineOptions(machine, deps);
    const backend = createRemoteBackend({
      ...options,
      mode: 'view',
      road: { ...road, firstPatienceMs: withinMs },
    });
    try {
      const opened = backend.open();
      opened.catch(() => {});
      if (!(await settlesWithin(opened, withinMs))) throw tooSlow(name, withinMs);
      const connectMs = Math.round(elapsed());
      const report = await backend.report();
      const round = createStopwatch();
      const jobs = await backend.countRunning();
      const latencyMs = Math.round(round() * 10) / 10;
      const far = {
        platform: backend.machine()?.platform,
        home: backend.machine()?.home,
        worker: backend.worker(),
      };
      return { ...known, ...far, isReachable: true, connectMs, latencyMs, jobs, report };
    } finally {
      await backend.close();
      await road.remove?.();
    }
  } catch (error) {
    const { message, hint } = toNacreError(error);
    return { ...known, isReachable: false, problem: message, hint };
  }
}

function tooSlow(name: string, withinMs: number): NacreError {
  return new NacreError(
    'resources_unavailable',
    `The machine ${name} was not ready within ${withinMs / 1_000} s.`,
    { hint: `Run nacre machines check ${name}, which waits longer.` },
  );
}
