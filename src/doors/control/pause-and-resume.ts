import { askServers, type ServerFolder } from '../../servers/reach-servers.ts';
import { setPaused } from '../../support/pause-mark.ts';
import type { ControlFolder, IoAccess, WorkerAccess } from '../door.ts';
import { failedExit } from '../exit-codes.ts';
import { print, toErrorText } from '../print.ts';

/** Handles `nacre pause`: ends every command of every server and refuses new ones. */
export async function pauseDoor(deps: IoAccess & ServerFolder & WorkerAccess): Promise<number> {
  const { io, controlDir } = deps;
  setPaused(controlDir, true);
  const { replies, failed, close } = await askServers(deps, { method: 'end_all' });
  close();
  await deps.endWorkers();
  const servers = replies.length === 1 ? '1 server' : `${replies.length} servers`;
  await print(io.stdout, `${servers} paused: nothing runs until nacre resume.\n`);
  const errors = failed.map((error) => `${toErrorText(error)}nacre: Its commands may still be running.\n`);
  await print(io.stderr, errors.join(''));
  return failed.length === 0 ? 0 : failedExit;
}

/** Handles `nacre resume`: allows commands again. */
export async function resumeDoor({ io, controlDir }: IoAccess & ControlFolder): Promise<number> {
  setPaused(controlDir, false);
  await print(io.stdout, 'Commands run again.\n');
  return 0;
}
