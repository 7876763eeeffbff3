// A backend whose worker is at the far end of a byte stream. `prepare` is sent without waiting for an answer, `start` waits,
// and the `Mirror` of a running job answers reads: a command costs two round trips, reading its output costs none.
import type { Backend, TakeUpRequest } from '../../contract/backend.ts';
import type { SecretDigests } from '../../contract/secret-digests.ts';
import type { FarMachine } from '../../contract/wire.ts';
import type { JobMethod } from '../job-methods.ts';
import { checkEntries, checkState } from './check-far.ts';
import type { KnownJob, TakenJob } from './known-jobs.ts';
import { RemoteJobs } from './remote-jobs.ts';
import type { RemoteOptions } from './remote-options.ts';

/** A backend over a stream. */
export interface RemoteBackend extends Backend {
  /** Opens the stream. Other calls open it themselves if necessary. */
  open(): Promise<void>;
  /** True once a call has opened the stream. */
  hasBegun(): boolean;
  /** The name of the worker that last answered `hello`; empty before the first answer. */
  worker(): string;
  /** The machine as its worker reported it; absent for one on this machine. */
  machine(): FarMachine | undefined;
  /** Digests of the secrets in the environment of its machine; absent before the first answer, and for one on this machine. */
  secrets(): SecretDigests | undefined;
  /** Since when the stream is broken, if something needs it. */
  unreachableSince(): string | undefined;
  /** The number of jobs that run in the worker; in the mode `view`, the jobs of all links are counted. */
  countRunning(): Promise<number>;
  /**
   * Reattaches to jobs of which an earlier process left records on disk. Jobs are `unreachable` if the worker does not answer within
   * `waitMs`, until it does; jobs that the worker does not report are `lost`.
   */
  takeUpKnown(
    request: TakeUpRequest,
    jobs: readonly KnownJob[],
    waitMs: number,
  ): Promise<readonly TakenJob[]>;
  /** Ends the worker with everything that it keeps. */
  shutdown(): Promise<void>;
}

/** Creates a backend over a stream that is opened at the first call. */
export function createRemoteBackend(options: RemoteOptions): RemoteBackend {
  const jobs = new RemoteJobs(options);
  const { connection } = jobs;
  return {
    ...jobCalls(jobs),
    ...machineCalls(jobs),
    abilities: { killTree: 'group' },
    open: () => connection.open(),
    hasBegun: () => connection.hasBegun,
    worker: () => jobs.far?.worker ?? '',
    machine: () => jobs.far?.machine,
    secrets: () => jobs.far?.secrets,
    unreachableSince: () => jobs.unreachableSince,
    async countRunning() {
      return (await connection.call('list')).filter(({ end }) => end === null).length;
    },
    takeUpKnown: (request, known, waitMs) => jobs.takeUpKnown(request, known, waitMs),
    async shutdown() {
      await connection.call('shutdown');
    },
    close: () => jobs.close(),
  };
}

type JobCalls = JobMethod | 'prepare' | 'list' | 'dispose' | 'takeUp';

function jobCalls(jobs: RemoteJobs): Pick<Backend, JobCalls> {
  const { connection } = jobs;
  return {
    prepare: (spec) => jobs.prepare(spec),
    start: (id) => jobs.start(id),
    read: (id, from, query) => jobs.read(id, from, query),
    wait: (id, waitMs) => jobs.wait(id, waitMs),
    write: (id, data, more = {}) => jobs.write(id, data, more),
    async resize(id, size) {
      await connection.call('resize', id, size);
    },
    async interrupt(id) {
      await connection.call('interrupt', id);
    },
    async stop(id, how) {
      const state = checkState(await connection.call('stop', id, how), id);
      jobs.find(id)?.set(state);
      return state;
    },
    observe: (id) => jobs.observe(id),
    awaitsInput: (id) => jobs.awaitsInput(id),
    list: async () => jobs.states(),
    async dispose(id) {
      jobs.forget(id);
      await connection.call('dispose', id);
    },
    takeUp: (request) => jobs.takeUp(request),
    async settle(id) {
      if (jobs.find(id)) await connection.call('settle', id);
    },
  };
}

function machineCalls(jobs: RemoteJobs): Omit<Backend, JobCalls | 'abilities' | 'close'> {
  const { connection } = jobs;
  return {
    async warmUp() {
      await connection.call('warmUp');
    },
    // The values stay on their machine: `secrets` has their digests.
    environmentSecrets: async () => [],
    report: () => connection.call('report'),
    usage: () => connection.call('usage'),
    inspect: (query) => jobs.inspect(query),
    async detach(session) {
      await connection.call('detach', session);
    },
    listSessions: () => connection.call('listSessions'),
    closeSession: (key) => connection.call('closeSession', key),
    listRooms: () => connection.call('listRooms'),
    changesFault: () => connection.call('changesFault'),
    listChanges: async (owner) => checkEntries(await connection.call('listChanges', owner ?? null)),
    scanChanges: (action, limit) => connection.call('scanChanges', action, limit),
    showChanges: (action, limits) => connection.call('showChanges', action, limits),
    applyChanges: (action) => connection.call('applyChanges', action),
    discardChanges: (action) => connection.call('discardChanges', action),
    undoChanges: (action) => connection.call('undoChanges', action),
    openPort: (port) => connection.call('openPort', port),
    closePort: async (hostPort) => (await connection.call('closePort', hostPort)) ?? undefined,
    async closeRoom(room) {
      await connection.call('closeRoom', room);
    },
  };
}
