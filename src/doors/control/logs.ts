import type { Assembly } from '../door.ts';
import { interruptedExit } from '../exit-codes.ts';
import { reachCommand } from './reach-command.ts';
import { showOutput } from './show-output.ts';

/** Prints what a command has printed; with -f goes on until it has ended. */
export async function open({ io, words, flags, controlDir }: Assembly): Promise<number> {
  const { server, command } = await reachCommand(controlDir, words, 'logs');
  io.interrupted.addEventListener('abort', server.close);
  try {
    await showOutput(server, command.id, io, { from: 0, view: 'clean', follow: flags.follow === true });
    return 0;
  } catch (error) {
    if (io.interrupted.aborted) return interruptedExit;
    throw error;
  } finally {
    server.close();
  }
}
