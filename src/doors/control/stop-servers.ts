import { NacreError } from '../../contract/failure.ts';
import { sleep } from '../../support/timing.ts';
import { askServers, type ServerFolder } from './reach-servers.ts';
import type { ServerStatus } from './server-status.ts';

/** The servers that run, and the errors of those that do not reply. */
export async function findServers(
  folder: ServerFolder,
): Promise<{ readonly servers: readonly ServerStatus[]; readonly failed: readonly NacreError[] }> {
  const { replies, failed, close } = await askServers<ServerStatus>(folder, { method: 'status' });
  close();
  return { servers: replies.map(({ result }) => result), failed };
}

const endMs = 15_000;
const pollMs = 50;

/** Ends these servers with SIGTERM, as a service manager would, and waits until none of them replies. */
export async function stopServers(folder: ServerFolder, servers: readonly ServerStatus[]): Promise<void> {
  for (const { pid } of servers) signal(pid);
  for (let waitedMs = 0; waitedMs < endMs; waitedMs += pollMs) {
    const now = await findServers(folder);
    if (now.servers.length === 0 && now.failed.length === 0) return;
    await sleep(pollMs);
  }
  const pids = (await findServers(folder)).servers.map(({ pid }) => pid).join(', ');
  throw new NacreError('internal', `Servers are still running after ${endMs / 1_000} s: ${pids}.`, {
    hint: 'End the clients that start them, then run nacre uninstall again; the state folder was not removed.',
  });
}

// The pid comes from the server itself, which has just replied on its socket.
function signal(pid: number): void {
  try {
    process.kill(pid, 'SIGTERM');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
