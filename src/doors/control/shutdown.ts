import type { IoAccess, WorkerAccess } from '../door.ts';
import { failedExit } from '../exit-codes.ts';
import { print } from '../print.ts';

/** Ends the detached worker with every command and shell that it keeps. */
export async function shutdownDoor({ io, endWorkers }: IoAccess & WorkerAccess): Promise<number> {
  const { ended, killed } = await endWorkers();
  if (ended.length === 0) await print(io.stdout, 'No worker runs, so nothing is kept.\n');
  else await print(io.stdout, `Ended the worker (pid ${ended.join(', ')}) and everything that it kept.\n`);
  if (killed.length === 0) return 0;
  await print(io.stderr, `nacre: pid ${killed.join(', ')} did not end in time and was killed.\n`);
  return failedExit;
}
