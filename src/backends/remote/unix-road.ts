import type { Road } from '../../wire/road.ts';
import { openWorker, type StartedWorker, type WorkerPlace } from '../../worker/host/start-worker.ts';

/** The road to the detached worker on this machine: its Unix socket. */
export function createUnixRoad(place: WorkerPlace): Road {
  let started: StartedWorker | undefined;
  return {
    open: () =>
      openWorker(place, (worker) => {
        started = worker;
      }),
    async ended() {
      await started?.ended();
    },
  };
}
