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
    const left = await table.findByVariable(instanceVariable, isDead);
    if (left.length === 0) break;
    for (const process of left) {
      swept.set(`${process.pid} ${process.startTime}`, process);
      await kill(process, table);
    }
    await sleep(delayMs);
  }
  return [...swept.values()];
}

async function kill({ pid, startTime }: ProcessInfo, table: ProcessTable): Promise<void> {
  try {
    if ((await table.startTime(pid)) === startTime) process.kill(pid, 'SIGKILL');
  } catch {
    // ESRCH or EPERM: it has ended, or belongs to another user.
  }
}
