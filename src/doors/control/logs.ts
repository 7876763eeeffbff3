import type { Assembly } from '../door.ts';
import { oneWord, reachCommand } from './reach-servers.ts';
import { showOutput } from './show-output.ts';

/** Prints what a command has printed; with -f goes on until it has ended. */
export async function open({ io, words, flags, controlDir }: Assembly): Promise<number> {
  const { server, command } = await reachCommand(controlDir, oneWord('logs', words));
  io.interrupted.addEventListener('abort', server.close);
  try {
    await showOutput(server, command.id, io, { from: 0, view: 'clean', follow: flags.follow === true });
    return 0;
  } finally {
    server.close();
  }
}
