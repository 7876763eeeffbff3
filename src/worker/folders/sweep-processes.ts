import { createStopwatch, sleep } from '../../support/timing.ts';
import type { ProcessInfo, ProcessTable } from '../processes/process-table.ts';
import { isDeadServer } from './instance-folder.ts';

/** The environment variable, set in every process that a server starts, with the name of its `InstanceFolder`. */
export const instanceVariable = 'NACRE_INSTANCE';

const maxSweepMs = 5_000;

/**
 * Kills the processes that dead servers left running: commands at level `group`, and supervisors that were killed while
 * they were being started. They are found by `instanceVariable`, whose value contains the pid and start time of their
 * server. `own` is the server in whose command this process itself runs, if any; its processes are spared.
 */
export async function sweepProcesses(
  table: ProcessTable,
  own: string | undefined,
): Promise<readonly ProcessInfo[]> {
  const isDead = async (server: string) => server !== own && (await isDeadServer(server, table));
  const swept = new Map<string, ProcessInfo>();
  const elapsed = createStopwatch();
  for (let delayMs = 1; elapsed() < maxSweepMs; delayMs = Math.min(delayMs * 2, 50)) {
    const found = await table.findByVariable(instanceVariable, isDead);
    for (const process of found) swept.set(`${process.pid} ${process.startTime}`, process);
    if (!(await killAll([...swept.values()], table))) break;
    await sleep(delayMs);
  }
  return [...swept.values()];
}

// SIGKILL takes effect later, and `findByVariable` no longer finds a descendant without the variable once its parent is
// dead. So every process that was found is checked again, until all are gone.
async function killAll(processes: readonly ProcessInfo[], table: ProcessTable): Promise<boolean> {
  const living = await Promise.all(processes.map((process) => kill(process, table)));
  return living.includes(true);
}

async function kill({ pid, startTime }: ProcessInfo, table: ProcessTable): Promise<boolean> {
  try {
    if ((await table.startTime(pid)) !== startTime) return false;
    process.kill(pid, 'SIGKILL');
    return true;
  } catch {
    // ESRCH or EPERM: it has ended, or belongs to another user.
    return false;
  }
}
