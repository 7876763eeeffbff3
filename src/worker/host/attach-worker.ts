import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { openWorker, type WorkerPlace } from './start-worker.ts';

/** Connects two streams to the worker of this machine, which is started if there is none, until one side ends. */
export async function attachWorker(place: WorkerPlace, input: Readable, output: Writable): Promise<void> {
  const worker = await openWorker(place);
  const closed = once(worker, 'close').catch(() => {});
  const end = () => worker.destroy();
  for (const stream of [input, output]) stream.on('error', end);
  worker.on('error', end);
  input.pipe(worker);
  worker.pipe(output);
  await closed;
}
