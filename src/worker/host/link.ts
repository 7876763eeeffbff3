// One connection of a server to the worker host: answers the calls of `WireCalls`. A server addresses its jobs, persistent
// shells and rooms by its own keys; the link maps them to those of the worker that has them.

import { createHash } from 'node:crypto';
import type { Duplex } from 'node:stream';
import type {
  KeptCommand,
  ShowLimits,
  StopOptions,
  TakeUpRequest,
  WriteOptions,
} from '../../contract/backend.ts';
import type { ChangesAction } from '../../contract/changes.ts';
import type { InspectQuery } from '../../contract/facts.ts';
import { jobNotFound, NacreError } from '../../contract/failure.ts';
import type { ExecList } from '../../contract/isolation.ts';
import type { Cursor, JobSpec, JobState, TerminalSize } from '../../contract/job.ts';
import type { ForwardedPort, RoomState } from '../../contract/port.ts';
import type { SessionState } from '../../contract/session.ts';
import {
  type FarHello,
  firstCredit,
  type InspectAnswer,
  type NearHello,
  type OutputFrame,
  type ReadAnswer,
  type WireCalls,
  type WireMethod,
} from '../../contract/wire.ts';
import { createDeferred } from '../../support/timing.ts';
import { type Answer, type IncomingCall, Peer } from '../../wire/peer.ts';
import {
  digestSecrets,
  expandQueryHome,
  toFarMachine,
  toHereOptions,
  withAskedPaths,
} from './here-options.ts';
import { HostedJob } from './hosted-job.ts';
import { createHostedWorker, type HostedWorker } from './hosted-worker.ts';
import { JobFeed } from './job-feed.ts';
import type { JobEntry, SessionEntry, WorkerHost } from './worker-host.ts';

const maxReadBytes = 1_048_576;
const silenceMs = 30_000;
// A stream without `hello` would keep the worker from ending.
const helloMs = 10_000;

type Handlers = {
  readonly [M in Exclude<WireMethod, 'read' | 'write'>]: (
    ...words: Parameters<WireCalls[M]>
  ) => ReturnType<WireCalls[M]> | Promise<ReturnType<WireCalls[M]>>;
};

// A near side that lost its connection repeats its calls; these calls must not be executed twice.
const madeOnce: ReadonlySet<string> = new Set([
  ...['prepare', 'write', 'interrupt', 'stop', 'dispose', 'detach'],
  ...['closeSession', 'openPort', 'closePort', 'takeUp'],
  ...['applyChanges', 'discardChanges', 'undoChanges'],
]);

interface RoomPlace {
  readonly hosted: HostedWorker;
  readonly key: string;
}

/** One connection. */
export class Link {
  readonly #host: WorkerHost;
  readonly #peer: Peer;
  readonly #feeds = new Map<string, JobFeed>();
  readonly #rooms = new Map<string, RoomPlace>();
  readonly #handlers: Handlers;
  #hello: NearHello | null = null;
  #own: HostedWorker | null = null;
  #exec: ExecList | null = null;
  #graceMs: number | undefined;
  #silence: NodeJS.Timeout | undefined;

  constructor(host: WorkerHost, stream: Duplex) {
    this.#host = host;
    this.#handlers = this.#toHandlers();
    this.#peer = new Peer(stream, {
      onCall: (call) => this.#answer(call),
      onClose: () => void this.#close(),
    });
    this.#expectHello();
  }

  #expectHello(): void {
    setTimeout(() => {
      if (!this.#hello) this.#peer.close(new Error('it has not said hello'));
    }, helloMs).unref();
  }

  get name(): string {
    return this.#hello?.link ?? '';
  }

  get epoch(): number {
    return this.#hello?.epoch ?? 0;
  }

  get orphanMs(): number {
    return this.#hello?.orphanMs ?? 0;
  }

  /** How long jobs that do not outlive the link stay after its end; null if a replacing link decides about them. */
  get graceMs(): number | null {
    return this.#isFenced ? null : (this.#graceMs ?? this.#hello?.graceMs ?? 0);
  }

  /** The workers that it uses. */
  workers(): readonly HostedWorker[] {
    return [...(this.#own ? [this.#own] : []), ...[...this.#rooms.values()].map(({ hosted }) => hosted)];
  }

  /** Ends a connection that another one of the same server replaces. */
  fence(): void {
    this.#isFenced = true;
    this.#peer.close(new Error('fenced'));
  }

  /** Closes the connection of a dead server, as if the network had reset it. */
  disconnect(): void {
    this.#peer.close(new Error('its server is dead'));
  }

  #isFenced = false;

  async #close(): Promise<void> {
    clearInterval(this.#silence);
    for (const feed of this.#feeds.values()) feed.close();
    this.#feeds.clear();
    await this.#host.release(this);
  }

  async #answer(call: IncomingCall): Promise<Answer> {
    const { method, number } = call;
    this.#host.noteWork();
    if (!this.#hello && method !== 'hello') throw helloFirst();
    if (!madeOnce.has(method)) return this.#make(call);
    const answers = this.#host.answersOf(this.name);
    return answers.get(number) ?? answers.add(number, this.#make(call));
  }

  async #make({ method, words, raw }: IncomingCall): Promise<Answer> {
    if (method === 'read') return this.#read(...(words as [string, Cursor, number]));
    if (method === 'write') {
      await this.#write(words[0] as string, (words[1] ?? {}) as WriteOptions, raw);
      return { result: null, raw: [] };
    }
    if (!Object.hasOwn(this.#handlers, method)) throw unknownMethod(method);
    const handler = this.#handlers[method as keyof Handlers] as (...all: readonly unknown[]) => unknown;
    return { result: (await handler(...words)) ?? null, raw: [] };
  }

  #toHandlers(): Handlers {
    return {
      ...this.#jobHandlers(),
      ...this.#machineHandlers(),
      hello: (hello) => this.#open(hello),
      takeUp: (request) => this.#takeUp(request),
      detach: async (session) => {
        const entry = this.#findSession(session);
        if (entry) await entry.hosted.worker.detach(entry.key);
        return null;
      },
      listSessions: () => this.#listSessions(),
      closeSession: async (key) => {
        const entry = this.#findSession(key);
        return entry ? this.#host.closeSession(entry) : null;
      },
      bye: () => {
        this.#graceMs = 0;
        return this.#host.endsAfter(this);
      },
      shutdown: async () => {
        await this.#host.close();
        setImmediate(() => this.#host.options.onShutdown());
        return null;
      },
    };
  }

  #jobHandlers() {
    const find = (id: string) => this.#find(id).job;
    return {
      prepare: (spec: JobSpec) => this.#prepare(spec),
      start: (id: string) => this.#start(id),
      state: (id: string) => find(id).state(),
      resize: async (id: string, size: TerminalSize) => {
        await find(id).resize(size);
        return null;
      },
      interrupt: async (id: string) => {
        const job = find(id);
        if (!job.isPast) await job.worker.interrupt(id);
        return null;
      },
      stop: (id: string, options: StopOptions) => this.#stop(id, options),
      observe: async (id: string) => {
        const job = find(id);
        const none = { awaitingInput: false, listening: [] };
        const observation = job.hasEnded ? none : await job.worker.observe(id);
        return { observation, state: await job.state() };
      },
      list: async () => Promise.all(this.#visible().map(({ job }) => job.state())),
      dispose: async (id: string) => {
        this.#feeds.get(id)?.close();
        this.#feeds.delete(id);
        const entry = this.#find(id);
        await (entry.job.hasStarted ? this.#host.dispose(entry) : this.#host.end(entry));
        return null;
      },
      settle: (id: string) => {
        find(id).settle();
        return null;
      },
      credit: (id: string, upTo: Cursor) => {
        this.#feeds.get(id)?.allow(upTo);
        return null;
      },
      care: (id: string) => {
        this.#feeds.get(id)?.care();
        return null;
      },
    };
  }

  #machineHandlers() {
    const worker = () => this.#worker().worker;
    return {
      exec: (list: ExecList | null) => {
        this.#exec = list;
        for (const hosted of this.workers()) hosted.setExec(list);
        return null;
      },
      warmUp: async () => {
        await worker().warmUp();
        return null;
      },
      report: () => worker().report(),
      usage: async () => (this.#own ? this.#own.worker.usage() : { spoolBytes: 0 }),
      inspect: (query: InspectQuery, known: string | null) => this.#inspect(query, known),
      listRooms: () => this.#listRooms(),
      changesFault: () => worker().changesFault(),
      listChanges: (owner: string | null) => worker().listChanges(owner ?? undefined),
      scanChanges: (action: ChangesAction, limit: number) => worker().scanChanges(action, limit),
      showChanges: (action: ChangesAction, limits: ShowLimits) => worker().showChanges(action, limits),
      applyChanges: (action: ChangesAction) => worker().applyChanges(action),
      discardChanges: (action: ChangesAction) => worker().discardChanges(action),
      undoChanges: (action: ChangesAction) => worker().undoChanges(action),
      openPort: async (port: ForwardedPort) => {
        const { hosted, key } = this.#room(port.room);
        return { ...(await hosted.worker.openPort({ ...port, room: key })), room: port.room };
      },
      closePort: async (hostPort: number) => {
        for (const { worker: one } of new Set(this.workers())) {
          const closed = await one.closePort(hostPort);
          if (closed) return { ...closed, room: this.#nearRoom(closed.room) };
        }
        return null;
      },
      closeRoom: async (room: string) => {
        const { hosted, key } = this.#room(room);
        await hosted.worker.closeRoom(key);
        return null;
      },
    };
  }

  async #open(hello: NearHello): Promise<FarHello> {
    const { jobs: known, links, sessions, options: own } = this.#host;
    const others = links.filter((other) => other !== this && other.name === hello.link);
    if (others.some(({ epoch }) => epoch > hello.epoch)) throw isFenced();
    for (const other of others) other.fence();
    this.#hello = hello;
    this.#exec = hello.exec;
    this.#inherit(this.#host.lastLink(hello.link));
    for (const entry of sessions)
      if (entry.link === null && entry.linkName === hello.link) this.#ownSession(entry);
    const jobs: JobState[] = [];
    for (const [id, cursor] of Object.entries(hello.resume)) {
      const entry = known.get(id);
      if (entry?.linkName !== hello.link) continue;
      this.#ownJob(entry, cursor);
      await entry.starting?.catch(() => {});
      const state = known.has(id) && (entry.job.hasStarted ? entry.job.state() : toPending(id));
      // If the state cannot be determined, the job is left out, so that the near side reports it as `lost`.
      const found = await Promise.resolve(state).catch(() => false as const);
      if (found) jobs.push(found);
    }
    this.#host.endForgotten(this);
    // A worker that replaces a killed one ends the commands that the killed one left running.
    if (jobs.some(({ status }) => status === 'lost'))
      void this.#worker()
        .worker.warmUp()
        .catch(() => {});
    const machine = hello.elsewhere && toFarMachine(own.here, hello.elsewhere);
    if (machine) this.#expectPings();
    const secrets = hello.elsewhere && digestSecrets(own.here, hello.elsewhere);
    return { build: own.build, worker: own.name, pid: process.pid, machine, secrets, jobs };
  }

  // The commands of a server share a worker and a room, even if its link was broken in between.
  #inherit(last: Link | undefined): void {
    if (!last) return;
    if (last.#own && this.#host.hasWorker(last.#own)) this.#own = last.#own;
    for (const [key, place] of last.#rooms)
      if (this.#host.hasWorker(place.hosted)) this.#rooms.set(key, place);
    for (const hosted of this.workers()) hosted.setExec(this.#exec);
  }

  // A server that is switched off does not close its stream. While one of its jobs runs, it sends pings.
  #expectPings(): void {
    this.#silence = setInterval(() => {
      const isBusy = this.#visible().some(({ job }) => job.hasStarted && !job.hasEnded);
      if (isBusy && this.#peer.silentMs > silenceMs) this.#peer.close(new Error('it was silent'));
    }, silenceMs / 3).unref();
  }

  #ownJob(entry: JobEntry, from: Cursor): void {
    clearTimeout(entry.timer);
    entry.link = this;
    entry.linkName = this.name;
    if (entry.job.hasStarted) this.#follow(entry, from);
  }

  #ownSession(entry: SessionEntry): void {
    clearTimeout(entry.timer);
    entry.link = this;
    entry.linkName = this.name;
  }

  #follow({ job }: JobEntry, from: Cursor): JobFeed {
    const known = this.#feeds.get(job.id);
    if (known) return known;
    const to = { peer: this.#peer, buffers: this.#host.buffers };
    const feed = new JobFeed(job, to, { from, credit: from + firstCredit });
    this.#feeds.set(job.id, feed);
    return feed;
  }

  #worker(): HostedWorker {
    if (this.#own) return this.#own;
    const { table, jobsFolder, here } = this.#host.options;
    const { options = {}, elsewhere } = this.#hello ?? {};
    const whole = elsewhere ? { ...options, ...toHereOptions(here, elsewhere) } : options;
    this.#own = createHostedWorker(whole, { table, keptFolder: jobsFolder }, this.#exec);
    this.#host.addWorker(this.#own);
    return this.#own;
  }

  #visible(): readonly JobEntry[] {
    const all = [...this.#host.jobs.values()];
    return this.#hello?.mode === 'view' ? all : all.filter(({ link }) => link === this);
  }

  #find(id: string): JobEntry {
    const entry = this.#host.jobs.get(id);
    if (!entry || (entry.link !== this && this.#hello?.mode !== 'view')) throw jobNotFound(id);
    return entry;
  }

  async #prepare(spec: JobSpec): Promise<null> {
    if (this.#host.jobs.has(spec.id)) return null;
    const { hosted, placed } = this.#place(spec);
    const begun = createDeferred<void>();
    const { tombstoneMs = 0 } = this.#hello ?? {};
    const place = {
      worker: hosted.worker,
      folder: this.#host.folderOf(spec.id),
      spare: this.#host.spare,
      link: this.name,
      tombstoneMs,
    };
    const job = HostedJob.create(placed, place, this.#host.signEnd, begun.promise);
    const prepared = hosted.worker.prepare(placed);
    const entry = {
      job,
      hosted,
      room: placed.room,
      prepared,
      begin: () => begun.resolve(),
      identity: spec.keeping?.identity,
      spoolTotalBytes: this.#spoolTotalBytes(),
      link: this,
      linkName: this.name,
    };
    this.#host.addJob(entry);
    await prepared;
    return null;
  }

  #spoolTotalBytes(): number | undefined {
    const bytes = this.#hello?.options.spoolTotalBytes;
    return typeof bytes === 'number' ? bytes : undefined;
  }

  /** The worker that runs a job, and the job in that worker's keys. */
  #place(spec: JobSpec): { readonly hosted: HostedWorker; readonly placed: JobSpec } {
    const session = spec.session === undefined ? undefined : this.#session(spec.session, spec);
    const beginsAs = spec.beginsAs === undefined ? undefined : this.#findSession(spec.beginsAs);
    const room = spec.room === undefined ? undefined : this.#room(spec.room);
    const hosted = session?.hosted ?? beginsAs?.hosted ?? room?.hosted ?? this.#worker();
    const roomKey = room?.hosted === hosted ? room.key : room && `${this.name} ${spec.room}`;
    const keys = { session: session?.key, beginsAs: beginsAs?.key, room: roomKey };
    return { hosted, placed: { ...spec, ...keys } };
  }

  #session(nearKey: string, { keeping }: JobSpec): SessionEntry {
    const known = this.#findSession(nearKey);
    if (known) return known;
    const entry: SessionEntry = {
      ...{ hosted: this.#worker(), key: `${this.name} ${nearKey}`, nearKey },
      ...{ keeping, link: this, linkName: this.name },
    };
    this.#host.sessions.add(entry);
    return entry;
  }

  #findSession(nearKey: string): SessionEntry | undefined {
    return [...this.#host.sessions].find((entry) => entry.link === this && entry.nearKey === nearKey);
  }

  #room(nearKey: string): RoomPlace {
    return this.#rooms.get(nearKey) ?? { hosted: this.#worker(), key: `${this.name} ${nearKey}` };
  }

  #nearRoom(key: string): string {
    const taken = [...this.#rooms].find(([, place]) => place.key === key);
    return taken ? taken[0] : key.slice(key.indexOf(' ') + 1);
  }

  async #start(id: string): Promise<JobState> {
    const entry = this.#find(id);
    const { job } = entry;
    // A near side that lost its connection repeats `start`, perhaps while the first call is still running.
    if (!job.hasStarted && !job.isPast) {
      entry.starting ??= this.#begin(entry);
      await entry.starting;
    }
    const feed = this.#follow(entry, 0);
    const state = await job.state();
    if (!state.end) feed.care();
    return state;
  }

  async #begin(entry: JobEntry): Promise<void> {
    try {
      await entry.prepared;
      await entry.job.worker.start(entry.job.id);
    } catch (error) {
      await this.#host.discard(entry);
      throw error;
    }
    entry.begin();
  }

  async #stop(id: string, options: StopOptions): Promise<JobState> {
    const entry = this.#find(id);
    const { job } = entry;
    if (job.isPast) return job.state();
    await entry.prepared.catch(() => {});
    try {
      const state = await job.worker.stop(id, options);
      if (!job.hasStarted) return state;
    } catch (error) {
      if (!job.hasStarted) await this.#host.discard(entry);
      throw error;
    }
    await job.ended;
    return job.state();
  }

  async #read(id: string, from: Cursor, maxBytes: number): Promise<Answer> {
    const found = await this.#find(id).job.read(from, {
      waitMs: 0,
      maxBytes: Math.min(maxBytes, maxReadBytes),
    });
    const { chunks, ...rest } = found;
    const frames = chunks.map(({ stream, data }): OutputFrame => [stream, data.length]);
    return { result: { frames, ...rest } satisfies ReadAnswer, raw: chunks.map(({ data }) => data) };
  }

  async #write(id: string, options: WriteOptions, raw: readonly Buffer[]): Promise<void> {
    const { job } = this.#find(id);
    this.#feeds.get(id)?.typed();
    await job.write(Buffer.concat(raw), options);
  }

  async #inspect(asked: InspectQuery, known: string | null): Promise<InspectAnswer> {
    if (!this.#hello?.elsewhere) return this.#inspectHere(asked, known);
    const { home } = this.#host.options.here;
    const { facts, ...rest } = await this.#inspectHere(expandQueryHome(asked, home), known);
    return { facts: withAskedPaths(facts, asked), ...rest };
  }

  async #inspectHere(query: InspectQuery, known: string | null): Promise<InspectAnswer> {
    if (query.session === undefined) return { facts: await this.#worker().worker.inspect(query) };
    const entry = this.#findSession(query.session);
    const { worker } = entry?.hosted ?? this.#worker();
    const { session, ...facts } = await worker.inspect({
      ...query,
      session: entry?.key ?? `${this.name} ${query.session}`,
    });
    if (session === undefined) return { facts };
    const fingerprint = createHash('sha256').update(JSON.stringify(session)).digest('hex');
    return fingerprint === known ? { facts, fingerprint } : { facts: { ...facts, session }, fingerprint };
  }

  async #listSessions(): Promise<readonly SessionState[]> {
    const isView = this.#hello?.mode === 'view';
    const own = [...this.#host.sessions].filter(({ link }) => isView || link === this);
    const workers = [...new Set(own.map(({ hosted }) => hosted))];
    const states = (await Promise.all(workers.map(({ worker }) => worker.listSessions()))).flat();
    return own.flatMap(({ key, nearKey }) => {
      const state = states.find((one) => one.key === key);
      return state ? [{ ...state, key: nearKey }] : [];
    });
  }

  async #listRooms(): Promise<readonly RoomState[]> {
    const workers = [...new Set(this.workers())];
    const rooms = (await Promise.all(workers.map(({ worker }) => worker.listRooms()))).flat();
    const isOwn = (key: string) =>
      key.startsWith(`${this.name} `) || [...this.#rooms.values()].some((place) => place.key === key);
    return rooms.flatMap(({ room, forwarded, ...rest }) => {
      if (!isOwn(room)) return [];
      const near = this.#nearRoom(room);
      return [{ ...rest, room: near, forwarded: forwarded.map((port) => ({ ...port, room: near })) }];
    });
  }

  async #takeUp({ identity, room, deserted = [] }: TakeUpRequest): Promise<readonly KeptCommand[]> {
    if (identity === undefined) return this.#viewAll();
    const isMine = (keeping: { readonly identity: string } | undefined) => keeping?.identity === identity;
    this.#disconnectDead(new Set(deserted), isMine);
    const shells = [...this.#host.sessions].filter(({ link, keeping }) => link === null && isMine(keeping));
    // Commands that do not outlive an earlier server must not run in its shells any more.
    if (shells.length > 0)
      await this.#host.endUnkept((entry) => 'identity' in entry && entry.identity === identity);
    for (const entry of shells) await this.#takeUpSession(entry, room);
    const jobs = [...this.#host.jobs.values()].filter(
      ({ link, job }) => link === null && isMine(job.kept?.keeping),
    );
    const taken: KeptCommand[] = [];
    for (const entry of jobs) {
      this.#takeUpRoom(entry, room);
      const command = await entry.job.toKeptCommand();
      if (!command || entry.link !== null) continue;
      this.#ownJob(entry, 0);
      entry.job.recordLink(this.name);
      taken.push(command);
    }
    return taken;
  }

  // Closes the links of dead servers that a broken network has left open.
  #disconnectDead(
    deserted: ReadonlySet<string>,
    isMine: (keeping: { readonly identity: string } | undefined) => boolean,
  ): void {
    for (const { job, link } of [...this.#host.jobs.values()])
      if (link !== this && deserted.has(job.id) && isMine(job.kept?.keeping)) link?.disconnect();
    for (const { nearKey, link, keeping } of [...this.#host.sessions])
      if (link !== this && deserted.has(nearKey) && isMine(keeping)) link?.disconnect();
  }

  async #viewAll(): Promise<readonly KeptCommand[]> {
    const entries = [...this.#host.jobs.values()];
    const commands = await Promise.all(entries.map(({ job }) => job.toKeptCommand()));
    for (const entry of entries) if (entry.job.kept) this.#follow(entry, 0);
    return commands.flatMap((command) => command ?? []);
  }

  // A shell runs later commands under the restrictions with which it was started, so these must equal the current ones.
  async #takeUpSession(entry: SessionEntry, room: string): Promise<void> {
    const before = entry.keeping?.room ?? '';
    const nearKey = `${room}${entry.nearKey.slice(before.length)}`;
    const isSame = entry.hosted.profile === this.#worker().profile;
    if (!isSame || this.#findSession(nearKey)) return void (await this.#host.closeSession(entry));
    entry.nearKey = nearKey;
    if (entry.keeping) entry.keeping = { ...entry.keeping, room };
    entry.hosted.setExec(this.#exec);
    this.#ownSession(entry);
  }

  #takeUpRoom({ hosted, room: key, job }: JobEntry, nearKey: string): void {
    if (!hosted || key === undefined || job.hasEnded || this.#rooms.has(nearKey)) return;
    if (hosted.profile !== this.#worker().profile) return;
    hosted.setExec(this.#exec);
    this.#rooms.set(nearKey, { hosted, key });
  }
}

function toPending(id: string): JobState {
  return {
    ...{ id, status: 'pending', pid: null, startedAt: new Date().toISOString(), durationMs: 0 },
    ...{ stdoutBytes: 0, stderrBytes: 0, withheldEnv: [], enforcement: null, resources: null, end: null },
  };
}

function unknownMethod(method: string): NacreError {
  return new NacreError('invalid_request', `This worker does not know the call ${method}.`, {
    hint: 'It belongs to another version of nacre: run nacre shutdown, then try again.',
  });
}

function isFenced(): NacreError {
  return new NacreError('resources_unavailable', 'A later stream of the same server has replaced this one.', {
    hint: 'Call again.',
  });
}

function helloFirst(): NacreError {
  return new NacreError('invalid_request', 'The first call on a stream to a worker must be hello.', {
    hint: 'Use nacre itself to talk to a worker.',
  });
}
