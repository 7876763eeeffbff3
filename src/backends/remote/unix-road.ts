import { openWorker, type WorkerPlace } from '../../worker/host/start-worker.ts';
import type { Road } from './connection.ts';

/** The road to the detached worker on this machine: its Unix socket. */
export function createUnixRoad(place: WorkerPlace): Road {
  return { open: () => openWorker(place) };
}
