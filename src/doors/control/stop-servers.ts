import { readFileSync } from 'node:fs';
import { NacreError } from '../../contract/failure.ts';
import { askServers, type ServerFolder } from '../../servers/reach-servers.ts';
import type { ServerStatus } from '../../servers/server-status.ts';
import { sleep } from '../../support/timing.ts';

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

// A server closes its control socket first and still writes to the state folder afterwards, so its process is watched.
/** Ends these servers with SIGTERM, as a service manager would, and waits for the end of their processes. */
export async function stopServers(servers: readonly Pick<ServerStatus, 'pid'>[]): Promise<void> {
  for (const { pid } of servers) signal(pid);
  const findAlive = () => servers.filter(({ pid }) => isAlive(pid));
  for (let waitedMs = 0; waitedMs < endMs && findAlive().length > 0; waitedMs += pollMs) await sleep(pollMs);
  const pids = findAlive().map(({ pid }) => pid);
  if (pids.length === 0) return;
  throw new NacreError(
    'internal',
    `Servers are still running after ${endMs / 1_000} s: ${pids.join(', ')}.`,
    {
      hint: 'End the clients that start them, then run nacre uninstall again; the state folder was not removed.',
    },
  );
}

// The pid comes from the server itself, which has just replied on its socket.
function signal(pid: number): void {
  try {
    process.kill(pid, 'SIGTERM');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
  return !isZombie(pid);
}

// In a container whose first process does not reap its children, an ended server stays in the process table.
function isZombie(pid: number): boolean {
  try {
    return /^\d+ \(.*\) Z /s.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}
