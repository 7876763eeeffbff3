// A backend whose worker is at the far end of a byte stream. `prepare` is sent without waiting for an answer, `start` waits,
// and the `Mirror` of a running job answers reads: a command costs two round trips, reading its output costs none.
import type { Backend, BackendChanges, TakeUpRequest } from '../../contract/backend.ts';
import type { ChangesAction } from '../../contract/changes.ts';
import type { SecretDigests } from '../../contract/secret-digests.ts';
import type { FarMachine } from '../../contract/wire.ts';
import { listOf, orNull } from '../../support/shapes.ts';
import type { JobMethod } from '../job-methods.ts';
import { checkAs, checkState, damaged } from './check-far.ts';
import {
  changesEntries,
  changesFault,
  changesResult,
  closedSession,
  forwardedPort,
  jobState,
  machineReport,
  roomStates,
  sessionStates,
  shownChanges,
  usage,
} from './far-shapes.ts';
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
  /** When the stream broke; undefined while it is open or not needed. */
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
      const states = checkAs(listOf(jobState), await connection.call('list'), 'its jobs');
      return states.filter(({ end }) => end === null).length;
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
    // The values never leave their machine; `secrets` has their digests.
    environmentSecrets: async () => [],
    report: async () => checkAs(machineReport, await connection.call('report'), 'its report'),
    usage: async () => checkAs(usage, await connection.call('usage'), 'its use of the disk'),
    inspect: (query) => jobs.inspect(query),
    async detach(session) {
      await connection.call('detach', session);
    },
    listSessions: async () => checkAs(sessionStates, await connection.call('listSessions'), 'its shells'),
    closeSession: async (key) =>
      checkAs(closedSession, await connection.call('closeSession', key), 'the end of a shell'),
    ...changesCalls(jobs),
    listRooms: async () => checkAs(roomStates, await connection.call('listRooms'), 'its rooms'),
    openPort: async (port) => checkAs(forwardedPort, await connection.call('openPort', port), 'a port'),
    closePort: async (hostPort) =>
      checkAs(orNull(forwardedPort), await connection.call('closePort', hostPort), 'a port') ?? undefined,
    async closeRoom(room) {
      await connection.call('closeRoom', room);
    },
  };
}

function changesCalls({ connection }: RemoteJobs): BackendChanges {
  const toResult = (answer: unknown, { id }: ChangesAction) =>
    ofCommand(checkAs(changesResult, answer, 'changes'), id);
  return {
    changesFault: async () => checkAs(changesFault, await connection.call('changesFault'), 'a reason'),
    listChanges: async (owner) =>
      checkAs(changesEntries, await connection.call('listChanges', owner ?? null), 'its kept changes'),
    scanChanges: async (action, limit) =>
      toResult(await connection.call('scanChanges', action, limit), action),
    async showChanges(action, limits) {
      const answer = await connection.call('showChanges', action, limits);
      return ofCommand(checkAs(shownChanges, answer, 'changes'), action.id);
    },
    applyChanges: async (action) => toResult(await connection.call('applyChanges', action), action),
    discardChanges: async (action) => toResult(await connection.call('discardChanges', action), action),
    undoChanges: async (action) => toResult(await connection.call('undoChanges', action), action),
  };
}

// The near side keeps records by id, so an answer about another command could change the record of another machine.
function ofCommand<T extends { readonly id: string }>(result: T, id: string): T {
  if (result.id === id) return result;
  throw damaged('changes of another command');
}
