import type { ServerFolder } from '../../servers/reach-servers.ts';
import type { Arguments, FlagAccess, IoAccess } from '../door.ts';
import { interruptedExit } from '../exit-codes.ts';
import { reachCommand } from './reach-command.ts';
import { showOutput } from './show-output.ts';

type LogsDeps = FlagAccess<{ readonly follow: boolean }> & IoAccess & Arguments & ServerFolder;

/** Prints the output of a command; with `-f` until the command has ended. */
export async function logsDoor(deps: LogsDeps): Promise<number> {
  const { io, words, flags } = deps;
  const { server, command } = await reachCommand(deps, words, 'logs');
  io.interrupted.addEventListener('abort', server.close);
  try {
    await showOutput(server, command.id, io, { from: 0, view: 'clean', follow: flags.follow });
    return 0;
  } catch (error) {
    if (io.interrupted.aborted) return interruptedExit;
    throw error;
  } finally {
    server.close();
  }
}
