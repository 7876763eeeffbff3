import type { CommandView } from '../../engine/commands/commands.ts';
import type { Assembly } from '../door.ts';
import { write } from '../say.ts';
import { reachCommand } from './reach-command.ts';

/** Ends a command of a running server with everything it has started. */
export async function open({ io, words, controlDir }: Assembly): Promise<number> {
  const { server, command } = await reachCommand(controlDir, words, 'stop');
  const { state } = (await server.call({ method: 'stop', id: command.id })) as CommandView;
  server.close();
  await write(io.stdout, `${command.id} ${state.status}, exit code ${state.end?.exitCode}\n`);
  return 0;
}
