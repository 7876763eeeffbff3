import { NacreError } from '../../contract/failure.ts';
import type { Assembly } from '../door.ts';
import { write } from '../say.ts';
import { reachServers } from './reach-servers.ts';

/** Ends all that runs on every running server and refuses what comes, or lets commands run again. */
async function throwSwitch({ io, controlDir }: Assembly, method: 'pause' | 'resume'): Promise<number> {
  const servers = await reachServers(controlDir);
  if (servers.length === 0) throw new NacreError('job_not_found', 'No server is running.');
  await Promise.all(servers.map((server) => server.call({ method })));
  for (const server of servers) server.close();
  const many = servers.length === 1 ? '1 server' : `${servers.length} servers`;
  await write(
    io.stdout,
    method === 'pause' ? `${many} paused: nothing runs until nacre resume.\n` : `${many} resumed.\n`,
  );
  return 0;
}

/** The door of `nacre pause`. */
export const pause = { open: (assembly: Assembly) => throwSwitch(assembly, 'pause') };

/** The door of `nacre resume`. */
export const resume = { open: (assembly: Assembly) => throwSwitch(assembly, 'resume') };
