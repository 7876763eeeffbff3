// A backend whose worker is at the far end of a byte stream. `prepare` is sent without waiting for an answer, `start` waits,
// and the `Mirror` of a running job answers reads: a command costs two round trips, reading its output costs none.
import type { Backend, TakeUpRequest, WriteOptions } from '../../contract/backend.ts';
import { stopOnClose } from '../../contract/backend.ts';
import type { Facts, InspectQuery, SessionFacts } from '../../contract/facts.ts';
import { jobNotFound, NacreError } from '../../contract/failure.ts';
import type { ExecList } from '../../contract/isolation.ts';
import type { Cursor, JobSpec, JobState, ReadResult } from '../../contract/job.ts';
import {
  type Elsewhere,
  type FarHello,
  type FarMachine,
  firstCredit,
  type InspectAnswer,
  protocol,
  type WireEvent,
} from '../../contract/wire.ts';
import { randomHex } from '../../support/ids.ts';
import { settlesWithin } from '../../support/timing.ts';
import type { Road } from '../../wire/road.ts';
import { checkFrames, checkObservation, checkRead, checkState } from './check-far.ts';
import { Connection, UnansweredError, WorkerReplacedError } from './connection.ts';
import { Mirror } from './mirror.ts';

/** Options of `createRemoteBackend`. */
export interface RemoteOptions {
  readonly road: Road;
  readonly build: string;
  readonly mode: 'use' | 'view';
  /** The worker's options as plain data. */
  readonly options: Readonly<Record<string, unknown>>;
  execAllow(): ExecList | undefined;
  readonly orphanMs: number;
  readonly tombstoneMs: number;
  /** How long the worker waits for a new stream before it ends commands that do not outlive a broken one. */
  readonly graceMs: number;
  /** True if `close` also ends jobs that outlive a broken stream, because no later process calls `takeUp` for them. */
  readonly endsAll?: boolean | undefined;
  /** Present if the worker is on another machine. */
  readonly elsewhere?: Elsewhere | undefined;
}

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
  /** Since when the stream is broken, if something needs it. */
  unreachableSince(): string | undefined;
  /** The number of jobs that run in the worker; in the mode `view`, the jobs of all links are counted. */
  countRunning(): Promise<number>;
  /** Ends the worker with everything that it keeps. */
  shutdown(): Promise<void>;
}

const creditBytes = 4 * 1_048_576;
const creditStep = 1_048_576;
const careEveryMs = 1_000;
const freshMs = 2_500;
const closeMs = 2_000;

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
    unreachableSince: () => jobs.unreachableSince,
    async countRunning() {
      return (await connection.call('list')).filter(({ end }) => end === null).length;
    },
    async shutdown() {
      await connection.call('shutdown');
    },
    close: () => jobs.close(),
  };
}

type JobCalls =
  | 'prepare'
  | 'start'
  | 'read'
  | 'wait'
  | 'write'
  | 'resize'
  | 'interrupt'
  | 'stop'
  | 'observe'
  | 'awaitsInput'
  | 'list'
  | 'dispose'
  | 'takeUp'
  | 'settle';

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
    async observe(id) {
      const mirror = jobs.get(id);
      if (mirror.hasEnded) return { awaitingInput: false, listening: [] };
      const { observation, state } = await connection.call('observe', id);
      mirror.set(checkState(state, id));
      return checkObservation(observation);
    },
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
    environmentSecrets: (rules) => connection.call('secrets', rules),
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
    listChanges: (owner) => connection.call('listChanges', owner ?? null),
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

/** The jobs of one link, by id. */
class RemoteJobs {
  readonly connection: Connection;
  readonly #options: RemoteOptions;
  readonly #link = randomHex(16);
  readonly #mirrors = new Map<string, Mirror>();
  readonly #caredAt = new Map<string, number>();
  // Jobs that are prepared but not started. If another worker replaces this one, their specs are sent to it.
  readonly #prepared = new Map<string, { readonly spec: JobSpec; prepared: Promise<unknown> }>();
  readonly #sessions = new Map<string, { readonly fingerprint: string; readonly facts: SessionFacts }>();
  #exec: ExecList | null = null;
  /** The last answer to `hello`. */
  far: Pick<FarHello, 'worker' | 'machine'> | undefined;
  unreachableSince: string | undefined;

  constructor(options: RemoteOptions) {
    this.#options = options;
    this.connection = new Connection(options.road, {
      hello: (epoch) => this.#hello(epoch),
      onOpen: (hello, isNew) => this.#onOpen(hello, isNew),
      onEvent: (event, raw) => this.#onEvent(event, raw),
      onUnreachable: (since) => {
        this.unreachableSince = since;
        for (const mirror of this.#running()) mirror.setUnreachable(since);
      },
      isNeeded: () => this.#running().length > 0,
    });
  }

  find(id: string): Mirror | undefined {
    return this.#mirrors.get(id);
  }

  get(id: string): Mirror {
    const mirror = this.#mirrors.get(id);
    if (!mirror) throw jobNotFound(id);
    return mirror;
  }

  states(): readonly JobState[] {
    return [...this.#mirrors.values()].flatMap((mirror) => (mirror.hasStarted ? [mirror.state()] : []));
  }

  forget(id: string): void {
    this.#mirrors.delete(id);
    this.#prepared.delete(id);
    this.#caredAt.delete(id);
  }

  async prepare(spec: JobSpec): Promise<void> {
    await this.connection.open();
    await this.#followExec();
    if (!this.#mirrors.has(spec.id)) this.#mirrors.set(spec.id, new Mirror(spec.id));
    this.#sendPrepare(spec);
  }

  async start(id: string): Promise<void> {
    const mirror = this.get(id);
    const prepared = this.#prepared.get(id)?.prepared;
    this.#prepared.delete(id);
    const { epoch } = this.connection;
    const startedAt = new Date().toISOString();
    try {
      mirror.set(checkState(await this.connection.call('start', id), id));
    } catch (error) {
      const isReopened = this.connection.epoch !== epoch;
      const unknown = toUnknown(id, startedAt);
      // A new worker may have found the job on disk and reported its state in `hello`.
      if (mirror.hasStarted) return;
      if (error instanceof UnansweredError) this.#leaveOpen(mirror, unknown);
      else if (error instanceof WorkerReplacedError || (isReopened && isNotFound(error)))
        this.#lose(mirror, unknown, unknownStart);
      else {
        this.forget(id);
        await prepared;
        throw error;
      }
    }
    this.#caredAt.set(id, performance.now());
    this.connection.watch();
  }

  async wait(id: string, waitMs: number): Promise<JobState> {
    const mirror = this.get(id);
    if (waitMs > 0) await mirror.wait(waitMs);
    else if (!mirror.hasEnded && mirror.ageMs > careEveryMs) this.#refresh(mirror);
    return mirror.state();
  }

  read(id: string, from: Cursor, query: { waitMs: number; maxBytes: number }): Promise<ReadResult> {
    const mirror = this.get(id);
    if (query.maxBytes > 0) this.#allow(mirror, from);
    return mirror.read(from, query, (at, maxBytes) => this.#readFar(id, at, maxBytes));
  }

  async write(id: string, data: Uint8Array, options: WriteOptions): Promise<void> {
    const mirror = this.get(id);
    mirror.awaiting = false;
    this.#caredAt.set(id, performance.now());
    await this.connection.send('write', [id, options], [data]);
  }

  async awaitsInput(id: string): Promise<boolean> {
    const mirror = this.get(id);
    if (mirror.hasEnded) return false;
    const now = performance.now();
    const lastCare = this.#caredAt.get(id) ?? Number.NEGATIVE_INFINITY;
    if (now - lastCare > careEveryMs) {
      this.#caredAt.set(id, now);
      this.connection.notify('care', id);
    }
    if (now - lastCare > freshMs) {
      const { observation } = await this.connection.call('observe', id);
      mirror.awaiting = observation.awaitingInput;
    }
    return mirror.awaiting;
  }

  async inspect(query: InspectQuery): Promise<Facts> {
    const { session } = query;
    const known = session === undefined ? undefined : this.#sessions.get(session);
    await this.#followExec();
    const { facts, fingerprint }: InspectAnswer = await this.connection.call(
      'inspect',
      query,
      known?.fingerprint ?? null,
    );
    if (session === undefined || fingerprint === undefined) return facts;
    if (facts.session) this.#sessions.set(session, { fingerprint, facts: facts.session });
    const state = facts.session ?? known?.facts;
    return state === undefined ? facts : { ...facts, session: state };
  }

  async takeUp(request: TakeUpRequest) {
    const commands = await this.connection.call('takeUp', request);
    for (const { id, state } of commands) {
      const mirror = this.#mirrors.get(id) ?? new Mirror(id);
      // The worker pushes the output from the beginning.
      mirror.credit = firstCredit;
      mirror.set(state);
      this.#mirrors.set(id, mirror);
    }
    if (this.#running().length > 0) this.connection.watch();
    return commands;
  }

  // A failure is ignored here, because `start` rejects with it.
  #sendPrepare(spec: JobSpec): void {
    const prepared = this.connection.call('prepare', spec);
    prepared.catch(() => {});
    this.#prepared.set(spec.id, { spec, prepared });
  }

  // The job may be running: `hello` reports its state once the worker can be reached again.
  #leaveOpen(mirror: Mirror, state: JobState): void {
    mirror.set(state);
    mirror.setUnreachable(state.startedAt);
  }

  // The worker may have prepared the job, which will never be started, so `dispose` removes it there.
  #lose(mirror: Mirror, state: JobState, detail: string): void {
    mirror.set(toLost(state, detail));
    this.connection.call('dispose', mirror.id).catch(() => {});
  }

  async close(): Promise<void> {
    if (this.connection.hasBegun && this.#options.mode === 'use') {
      const { endsAll } = this.#options;
      const ending = this.#running().filter((mirror) => endsAll || !mirror.state().outlives);
      const stopped = ending.map(({ id }) => this.connection.call('stop', id, stopOnClose));
      await settlesWithin(Promise.allSettled(stopped), closeMs);
    }
    await this.connection.close();
  }

  #hello(epoch: number) {
    const { build, mode, options, elsewhere, orphanMs, tombstoneMs, graceMs } = this.#options;
    this.#exec = this.#options.execAllow() ?? null;
    const resume = Object.fromEntries(
      [...this.#mirrors.values()].map((mirror) => [mirror.id, mirror.resume()]),
    );
    const exec = this.#exec;
    const times = { orphanMs, tombstoneMs, graceMs };
    return { protocol, build, link: this.#link, epoch, mode, options, elsewhere, exec, ...times, resume };
  }

  #onOpen({ jobs, worker, machine }: FarHello, isNew: boolean): void {
    this.far = { worker, machine };
    if (isNew) this.#sessions.clear();
    const known = new Map(jobs.map((state) => [state.id, state]));
    for (const state of jobs) if (state.status !== 'pending') this.find(state.id)?.set(state);
    for (const mirror of this.#running()) {
      const state = known.get(mirror.id);
      if (!state) mirror.set(toLost(mirror.state(), isNew ? replacedBy(worker) : endedMeanwhile));
      else if (state.status === 'pending') this.#lose(mirror, mirror.state(), neverStarted);
    }
    for (const { spec } of [...this.#prepared.values()]) if (!known.has(spec.id)) this.#sendPrepare(spec);
  }

  #onEvent(event: WireEvent, raw: readonly Buffer[]): void {
    const mirror = this.#mirrors.get(event.id);
    if (!mirror) return;
    if (event.event === 'output') mirror.add(event.cursor, checkFrames(event.frames, raw), raw);
    else if (event.event === 'grown') mirror.grow(event);
    else if (event.event === 'awaiting') mirror.awaiting = event.on === true;
    else mirror.set(checkState(event.state, mirror.id));
  }

  #running(): readonly Mirror[] {
    return [...this.#mirrors.values()].filter((mirror) => mirror.hasStarted && !mirror.hasEnded);
  }

  #refresh(mirror: Mirror): void {
    this.connection
      .call('state', mirror.id)
      .then((state) => mirror.set(checkState(state, mirror.id)))
      .catch(() => {});
  }

  // Credit is sent in steps: one message per read would cost more than it saves.
  #allow(mirror: Mirror, from: Cursor): void {
    const upTo = from + creditBytes;
    if (upTo < mirror.credit + creditStep || from > mirror.end) return;
    mirror.credit = upTo;
    this.connection.notify('credit', mirror.id, upTo);
  }

  async #readFar(id: string, from: Cursor, maxBytes: number): Promise<ReadResult> {
    const { result, raw } = await this.connection.send('read', [id, from, maxBytes]);
    return checkRead(result, raw, { from, maxBytes });
  }

  async #followExec(): Promise<void> {
    const list = this.#options.execAllow() ?? null;
    if (list === this.#exec) return;
    this.#exec = list;
    await this.connection.call('exec', list);
  }
}

const isNotFound = (error: unknown) => error instanceof NacreError && error.code === 'job_not_found';

const replacedBy = (worker: string) =>
  `The worker that ran this command is gone, and worker ${worker}, which replaced it, has no record of the command. The exit code is unknown.`;
const endedMeanwhile =
  'The connection to the worker was lost for so long that the worker has ended this command. The exit code is unknown.';
const neverStarted =
  'The connection to the worker was lost before this command was started, so it did not run.';
const unknownStart =
  'The worker was lost while it started this command. It is not known whether it ran; it was not started again.';

/** The state of a job whose `start` was sent but not answered. */
function toUnknown(id: string, startedAt: string): JobState {
  return {
    ...{ id, status: 'running', pid: null, startedAt, durationMs: 0, stdoutBytes: 0, stderrBytes: 0 },
    ...{ withheldEnv: [], enforcement: null, resources: null, end: null },
  };
}

function toLost(state: JobState, detail: string): JobState {
  return {
    ...state,
    status: 'lost',
    end: {
      ...{ cause: 'worker_lost', exitCode: null, signal: null, detail },
      ...{ leftRunning: [], kept: [], survivors: [], deniedHosts: [] },
    },
  };
}
