import { stopOnClose, type TakeUpRequest, type WriteOptions } from '../../contract/backend.ts';
import type { Facts, InspectQuery, SessionFacts } from '../../contract/facts.ts';
import { jobNotFound, NacreError } from '../../contract/failure.ts';
import type { ExecList } from '../../contract/isolation.ts';
import type { Cursor, JobObservation, JobSpec, JobState, ReadResult } from '../../contract/job.ts';
import { type FarHello, firstCredit, protocol, type WireEvent } from '../../contract/wire.ts';
import { randomHex } from '../../support/ids.ts';
import { settlesWithin } from '../../support/timing.ts';
import { checkAs, checkFrames, checkMarks, checkRead, checkState, toObject } from './check-far.ts';
import { Connection, UnansweredError, WorkerReplacedError } from './connection.ts';
import { inspection, observation } from './far-shapes.ts';
import { type KnownJob, KnownJobs, type TakenJob } from './known-jobs.ts';
import { lostBecause, toLost, toUnknown } from './lost-states.ts';
import { Mirror } from './mirror.ts';
import type { RemoteOptions } from './remote-options.ts';

const creditBytes = 4 * 1_048_576;
const creditStep = 1_048_576;
const careEveryMs = 1_000;
const freshMs = 2_500;
const closeMs = 2_000;
// `nacre ps` waits for observations, so a machine that does not answer must not delay it.
const observeMs = 2_000;
const takeUpMs = 10_000;

/** The jobs of one link, by id. */
export class RemoteJobs {
  readonly connection: Connection;
  readonly #options: RemoteOptions;
  readonly #earlier: KnownJobs;
  readonly #link = randomHex(16);
  readonly #mirrors = new Map<string, Mirror>();
  readonly #caredAt = new Map<string, number>();
  // Jobs that are prepared but not started. If another worker replaces this one, their specs are sent to it.
  readonly #prepared = new Map<string, { readonly spec: JobSpec; prepared: Promise<unknown> }>();
  readonly #sessions = new Map<string, { readonly fingerprint: string; readonly facts: SessionFacts }>();
  #exec: ExecList | null = null;
  /** The last answer to `hello`. */
  far: Pick<FarHello, 'worker' | 'machine' | 'secrets'> | undefined;
  unreachableSince: string | undefined;

  constructor(options: RemoteOptions) {
    this.#options = options;
    this.connection = new Connection(options.road, {
      hello: (epoch) => this.#hello(epoch),
      onOpen: (hello, isNew) => this.#onOpen(hello, isNew),
      onEvent: (event, raw) => this.#onEvent(event, raw),
      onUnreachable: (since) => {
        this.unreachableSince = since;
        for (const mirror of this.#running())
          if (!this.#earlier.isUnanswered(mirror.id)) mirror.setUnreachable(since);
      },
      isNeeded: () => this.#running().length > 0,
    });
    this.#earlier = new KnownJobs(this.connection);
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
    this.#earlier.forget(id);
    this.#prepared.delete(id);
    this.#caredAt.delete(id);
  }

  async prepare(spec: JobSpec): Promise<void> {
    await this.connection.open();
    await this.#followExec();
    if (!this.#mirrors.has(spec.id)) this.#mirrors.set(spec.id, new Mirror(spec.id));
    this.#sendPrepare(spec);
    // The worker prepares the command while this process records its start.
    this.connection.flush();
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
        this.#lose(mirror, unknown, lostBecause.unknownStart);
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
    else if (!mirror.hasEnded && mirror.ageMs > careEveryMs && !this.#earlier.isUnanswered(id))
      this.#refresh(mirror);
    return mirror.state();
  }

  async read(id: string, from: Cursor, query: { waitMs: number; maxBytes: number }): Promise<ReadResult> {
    const mirror = this.get(id);
    if (query.maxBytes > 0) this.#allow(mirror, from);
    const found = await mirror.read(from, query, (at, maxBytes) => this.#readFar(id, at, maxBytes));
    const hide = this.#earlier.hiddenIn(id);
    return hide.length > 0 ? { ...found, hide } : found;
  }

  /** Observes a job; returns the previous observation if the worker does not answer within `observeMs`. */
  async observe(id: string): Promise<JobObservation> {
    const mirror = this.get(id);
    const lastSeen = { awaitingInput: mirror.awaiting && !mirror.hasEnded, listening: [] };
    if (mirror.hasEnded || mirror.isUnreachable) return lastSeen;
    const answer = this.connection.call('observe', id);
    answer.catch(() => {});
    const isLate = !(await settlesWithin(answer, observeMs).catch(() => true));
    if (isLate) return lastSeen;
    return this.#observed(mirror, await answer);
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
      const { awaitingInput } = this.#observed(mirror, await this.connection.call('observe', id));
      mirror.awaiting = awaitingInput;
    }
    return mirror.awaiting;
  }

  #observed(mirror: Mirror, answer: unknown): JobObservation {
    const { observation: seen, state } = toObject(answer, 'an observation');
    mirror.set(checkState(state, mirror.id));
    return checkAs(observation, seen, 'an observation');
  }

  async inspect(query: InspectQuery): Promise<Facts> {
    const { session } = query;
    const cached = session === undefined ? undefined : this.#sessions.get(session);
    await this.#followExec();
    // Until `takeUp` is answered, its persistent shell seems to be missing, and a new shell would replace it.
    if (this.#earlier.hasUnanswered) await this.connection.open().then(() => this.#earlier.settled(takeUpMs));
    const answer = await this.connection.call('inspect', query, cached?.fingerprint ?? null);
    const { facts, fingerprint } = checkAs(inspection, answer, 'its answer to inspect');
    if (session === undefined || fingerprint === undefined) return facts;
    if (facts.session) this.#sessions.set(session, { fingerprint, facts: facts.session });
    const state = facts.session ?? cached?.facts;
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

  /** Reattaches to jobs of an earlier process; waits at most `waitMs` for the worker. */
  async takeUpKnown(
    request: TakeUpRequest,
    jobs: readonly KnownJob[],
    waitMs: number,
  ): Promise<readonly TakenJob[]> {
    const mirrors = this.#earlier.add(request, jobs);
    for (const mirror of mirrors) this.#mirrors.set(mirror.id, mirror);
    this.connection.watch();
    await this.#earlier.settled(waitMs);
    return mirrors.map((mirror) => this.#earlier.taken(mirror));
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

  #onOpen({ jobs, worker, machine, secrets }: FarHello, isNew: boolean): void {
    this.far = { worker, machine, secrets };
    if (isNew) this.#sessions.clear();
    const reported = new Map(jobs.map((state) => [state.id, state]));
    for (const state of jobs) if (state.status !== 'pending') this.find(state.id)?.set(state);
    for (const mirror of this.#running()) {
      const state = reported.get(mirror.id);
      if (this.#earlier.isUnanswered(mirror.id)) continue;
      if (!state)
        mirror.set(toLost(mirror.state(), isNew ? lostBecause.replaced(worker) : lostBecause.endedMeanwhile));
      else if (state.status === 'pending') this.#lose(mirror, mirror.state(), lostBecause.neverStarted);
    }
    for (const { spec } of [...this.#prepared.values()]) if (!reported.has(spec.id)) this.#sendPrepare(spec);
    this.#earlier.send();
  }

  #onEvent(event: WireEvent, raw: readonly Buffer[]): void {
    const mirror = this.#mirrors.get(event.id);
    if (!mirror) return;
    if (event.event === 'output')
      mirror.add(event.cursor, checkFrames(event.frames, raw), raw, checkMarks(event.marks));
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
