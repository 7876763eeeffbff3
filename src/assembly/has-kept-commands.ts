import { hasAbandonedRecords } from '../machines/far-records.ts';
import { hasRunningIn, mayHaveKeptJobs } from '../worker/host/worker-folder.ts';

/** True if an earlier server may have left commands, running or ended, on this or another machine. */
export function hasKeptCommands(stateDir: string): boolean {
  return mayHaveKeptJobs(stateDir) || hasAbandonedRecords(stateDir);
}

/** True if commands of a client in the folder `project` may still run here, or if any client may have left commands on other machines. */
export function mayHaveRunningCommands(stateDir: string, project: string): boolean {
  return hasRunningIn(stateDir, project) || hasAbandonedRecords(stateDir);
}
