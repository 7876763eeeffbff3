import { pause } from '../../support/pause.ts';
import { createStopwatch } from '../../support/stopwatch.ts';
import type { ProcessInfo, ProcessTable } from '../processes/process-table.ts';
import { isDeadServer } from './instance-folder.ts';

/** The variable by which everything that a server starts names that server. */
export const instanceVariable = 'NACRE_INSTANCE';

const longestMs = 5_000;

/**
 * Ends what servers that are no longer alive have left running: commands at the level `group`, and supervisors that
 * were killed while they were being started. A process is known by the name of its server, which holds that server's
 * number and start time, never by its own. `own` is the server in whose command we ourselves run, which is spared.
 */
export async function sweepProcesses(
  table: ProcessTable,
  own: string | undefined,
): Promise<readonly ProcessInfo[]> {
  const isLeft = async (server: string) => server !== own && (await isDeadServer(server, table));
  const swept = new Map<string, ProcessInfo>();
  const elapsed = createStopwatch();
  for (let delayMs = 1; elapsed() < longestMs; delayMs = Math.min(delayMs * 2, 50)) {
    const left = await table.carriers(instanceVariable, isLeft);
    if (left.length === 0) break;
    for (const process of left) {
      swept.set(`${process.pid} ${process.startTime}`, process);
      await kill(process, table);
    }
    await pause(delayMs);
  }
  return [...swept.values()];
}

async function kill({ pid, startTime }: ProcessInfo, table: ProcessTable): Promise<void> {
  try {
    if ((await table.startTime(pid)) === startTime) process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended meanwhile, or belongs to another user.
  }
}
