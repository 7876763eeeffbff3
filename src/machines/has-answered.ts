import type { MachineBackend } from './route-machines.ts';

/** Whether a worker on the machine has answered since this process was started. */
export function hasAnswered(backend: Pick<MachineBackend, 'worker'>): boolean {
  return backend.worker() !== '';
}
