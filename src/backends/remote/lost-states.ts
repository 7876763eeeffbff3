// Job states that the near side sets itself, because the worker does not answer or has no record of a job.
import type { JobState } from '../../contract/job.ts';

/** Reasons why a job is `lost`, for `end.detail`. */
export const lostBecause = {
  replaced: (worker: string) =>
    `The worker that ran this command is gone, and worker ${worker}, which replaced it, has no record of the command. The exit code is unknown.`,
  endedMeanwhile:
    'The connection to the worker was lost for so long that the worker has ended this command. The exit code is unknown.',
  neverStarted: 'The connection to the worker was lost before this command was started, so it did not run.',
  unknownStart:
    'The worker was lost while it started this command. It is not known whether it ran; it was not started again.',
  forgotten:
    'The server that started this command is gone, and its machine no longer has a record of the command. The exit code is unknown.',
};

/** The state of a job that may be running, because its worker has not reported it yet. */
export function toUnknown(id: string, startedAt: string): JobState {
  return {
    ...{ id, status: 'running', pid: null, startedAt, durationMs: 0, stdoutBytes: 0, stderrBytes: 0 },
    ...{ withheldEnv: [], enforcement: null, resources: null, end: null },
  };
}

/** Returns `state` as `lost`, with the cause `worker_lost`. */
export function toLost(state: JobState, detail: string): JobState {
  return {
    ...state,
    status: 'lost',
    end: {
      ...{ cause: 'worker_lost', exitCode: null, signal: null, detail },
      ...{ leftRunning: [], kept: [], survivors: [], deniedHosts: [] },
    },
  };
}
