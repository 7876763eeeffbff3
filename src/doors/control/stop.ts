import type { CommandView } from '../../engine/commands/commands.ts';
import type { ServerFolder } from '../../servers/reach-servers.ts';
import type { Arguments, IoAccess } from '../door.ts';
import { print } from '../print.ts';
import { reachCommand } from './reach-command.ts';

/** Stops a command of a running server, including every process that it started. */
export async function stopDoor(deps: IoAccess & Arguments & ServerFolder): Promise<number> {
  const { server, command } = await reachCommand(deps, deps.words, 'stop');
  const { state } = (await server.call({ method: 'stop', id: command.id })) as CommandView;
  server.close();
  await print(
    deps.io.stdout,
    `${command.id} ${state.status}, exit code ${state.end?.exitCode ?? 'not known'}\n`,
  );
  return 0;
}
