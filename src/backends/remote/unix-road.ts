import type { Road } from '../../wire/road.ts';
import { openWorker, type WorkerPlace } from '../../worker/host/start-worker.ts';

/** The road to the detached worker on this machine: its Unix socket. */
export function createUnixRoad(place: WorkerPlace): Road {
  return { open: () => openWorker(place) };
}
