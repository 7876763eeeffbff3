// The far side of the wire: one process that keeps the jobs and persistent shells of all servers of a user.
// 1. `accept` opens a `Link` per connection; each link gets a worker with the settings of its server,
// 2. when a link is lost, `release` ends what does not outlive it, and keeps the rest for `orphanMs`,
// 3. `takeUp` hands orphans to a later link of the same client,
// 4. `onIdle` is called when there is neither a link nor anything left to keep.

import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import type { ClosedSession } from '../../contract/backend.ts';
import { type StopOptions, stopOnClose } from '../../contract/backend.ts';
import type { JobState, Keeping } from '../../contract/job.ts';
import { signedEnd } from '../../contract/wire.ts';
import { settlesWithin } from '../../support/timing.ts';
import type { Answer } from '../../wire/peer.ts';
import type { ProcessTable } from '../processes/process-table.ts';
import type { HereOptions } from './here-options.ts';
import { HostedJob } from './hosted-job.ts';
import type { HostedWorker } from './hosted-worker.ts';
import { type KeptRecord, removeKept } from './kept-job.ts';
import { Link } from './link.ts';
import { SendBuffers } from './send-buffers.ts';
import { SpareFolder } from './spare-folder.ts';

/** A job with its place. */
export interface JobEntry {
  readonly job: HostedJob;
  /** The worker that runs it; null for one of an earlier process. */
  readonly hosted: HostedWorker | null;
  /** The worker's key of its room. */
  readonly room?: string | undefined;
  /** Settles when the worker has prepared it. */
  readonly prepared: Promise<unknown>;
  /** Settles when it has started; present once `start` was called. */
  starting?: Promise<void> | undefined;
  begin(): void;
  /** As in `Keeping.identity`. */
  readonly identity?: string | undefined;
  /** As in `WorkerOptions`: the server that started it lets the logs of ended jobs use this much disk. */
  readonly spoolTotalBytes?: number | undefined;
  /** The link that owns it; null for an orphan. */
  link: Link | null;
  /** The name of the link that started it, or took it up last. */
  linkName: string;
  timer?: NodeJS.Timeout | undefined;
}

/** A persistent shell with its place. */
export interface SessionEntry {
  readonly hosted: HostedWorker;
  /** The worker's key of it. */
  readonly key: string;
  /** The near side's key of it. */
  nearKey: string;
  keeping: Keeping | undefined;
  link: Link | null;
  linkName: string;
  timer?: NodeJS.Timeout | undefined;
}

/** Options of `WorkerHost`. */
export interface HostOptions {
  /** The random name of this process. */
  readonly name: string;
  readonly build: string;
  /** The folder in which each kept job has a folder. */
  readonly jobsFolder: string;
  readonly table: ProcessTable;
  /** For servers on other machines, which cannot name paths of this one. */
  readonly here: HereOptions;
  /** Called when there is nothing left to keep and no link. */
  onIdle(): void;
  /** Called by `shutdown`, after everything has ended. */
  onShutdown(): void;
  /** Called when no call has arrived and no job has ended for `restMs`. */
  onRest?(): void;
}

const kill: StopOptions = { signal: 'SIGKILL', graceMs: 0 };
const closeMs = 8_000;
const restMs = 2_000;
const answersMs = 600_000;
const maxAnswers = 256;

/** The latest answers to the calls of one link, by number. */
class Answers {
  readonly #answers = new Map<number, Promise<Answer>>();

  get(number: number): Promise<Answer> | undefined {
    return this.#answers.get(number);
  }

  add(number: number, answer: Promise<Answer>): Promise<Answer> {
    this.#answers.set(number, answer);
    const [oldest] = this.#answers.keys();
    if (this.#answers.size > maxAnswers && oldest !== undefined) this.#answers.delete(oldest);
    return answer;
  }
}

/** Keeps the jobs of all links. */
export class WorkerHost {
  readonly options: HostOptions;
  readonly buffers = new SendBuffers();
  readonly spare: SpareFolder;
  readonly jobs = new Map<string, JobEntry>();
  readonly sessions = new Set<SessionEntry>();
  readonly #links = new Set<Link>();
  readonly #workers = new Set<HostedWorker>();
  readonly #closing = new Set<Promise<void>>();
  readonly #answers = new Map<string, Answers>();
  // Kept jobs in the order in which they ended.
  readonly #endedLogs = new Set<HostedJob>();
  // The last link of each name, whose worker and rooms the next one uses.
  readonly #lastLinks = new Map<string, Link>();
  readonly #key: { readonly privateKey: KeyObject; readonly publicText: string };
  #isClosed = false;
  #resting: NodeJS.Timeout | undefined;

  constructor(options: HostOptions) {
    this.options = options;
    this.spare = new SpareFolder(`${options.jobsFolder}-spare`);
    const { privateKey, publicKey } = generateKeyPairSync('ed25519');
    this.#key = {
      privateKey,
      publicText: publicKey.export({ type: 'spki', format: 'der' }).toString('base64'),
    };
  }

  /** Postpones `onRest`. */
  noteWork(): void {
    this.#resting ??= setTimeout(() => this.#rest(), restMs).unref();
    this.#resting.refresh();
  }

  #rest(): void {
    this.buffers.clear();
    this.options.onRest?.();
  }

  accept(stream: Duplex): void {
    this.#links.add(new Link(this, stream));
  }

  /** The links that are open. */
  get links(): readonly Link[] {
    return [...this.#links];
  }

  /** The answers that a link of this name has received, for repeated calls. */
  answersOf(link: string): Answers {
    const answers = this.#answers.get(link) ?? new Answers();
    this.#answers.set(link, answers);
    return answers;
  }

  /** Adds the jobs that earlier processes left on disk and that are still to be kept. */
  async restore(records: readonly (KeptRecord & { readonly folder: string })[]): Promise<void> {
    for (const { folder, ...record } of records) {
      const job = await HostedJob.restore(record, folder);
      const entry = {
        job,
        hosted: null,
        prepared: Promise.resolve(),
        begin() {},
        link: null,
        linkName: record.spec.link,
      };
      this.jobs.set(job.id, entry);
      this.#endedLogs.add(job);
      this.#expire(entry);
    }
  }

  folderOf(id: string): string {
    return join(this.options.jobsFolder, id);
  }

  addWorker(hosted: HostedWorker): void {
    this.#workers.add(hosted);
  }

  /** False once it was closed. */
  hasWorker(hosted: HostedWorker): boolean {
    return this.#workers.has(hosted);
  }

  /** The last link of this name that was lost. */
  lastLink(name: string): Link | undefined {
    return this.#lastLinks.get(name);
  }

  addJob(entry: JobEntry): void {
    this.jobs.set(entry.job.id, entry);
    const ended = () => {
      this.noteWork();
      // A job that is not kept stays for the grace period of its link, which may be reopened and request the job's end.
      if (!entry.link && entry.job.kept) this.#expire(entry);
      if (entry.job.kept) this.#endedLogs.add(entry.job);
      void this.#limitLogs(entry.spoolTotalBytes).catch(() => {});
      this.tidy();
    };
    entry.job.ended.then(ended, ended);
  }

  // The quota of a worker contains only the logs that it has open, so those of ended jobs are counted here.
  async #limitLogs(maxBytes = Number.POSITIVE_INFINITY): Promise<void> {
    const ended = [...this.#endedLogs];
    const sizes = await Promise.all(ended.map((job) => job.logBytes()));
    let excess = sizes.reduce((sum, bytes) => sum + bytes, 0) - maxBytes;
    for (const [index, job] of ended.entries()) {
      if (excess <= 0) return;
      this.#endedLogs.delete(job);
      await job.evictLog();
      excess -= sizes[index] ?? 0;
    }
  }

  async dispose(entry: JobEntry): Promise<void> {
    clearTimeout(entry.timer);
    await entry.job.dispose();
    this.#endedLogs.delete(entry.job);
    this.jobs.delete(entry.job.id);
  }

  /** Forgets a job that was never started. */
  async discard({ job, timer }: JobEntry): Promise<void> {
    clearTimeout(timer);
    this.jobs.delete(job.id);
    if (job.kept) await removeKept(this.folderOf(job.id));
  }

  readonly signEnd = (state: JobState): JobState => {
    const endedAt = new Date().toISOString();
    const signature = sign(null, Buffer.from(signedEnd(state, endedAt)), this.#key.privateKey).toString(
      'base64',
    );
    return {
      ...state,
      endRecord: {
        worker: this.options.name,
        key: this.#key.publicText,
        startedAt: state.startedAt,
        endedAt,
        signature,
      },
    };
  };

  /** Ends what only a lost link needs, unless it is reopened in time, and keeps the rest. */
  async release(link: Link): Promise<void> {
    this.#links.delete(link);
    this.#lastLinks.set(link.name, link);
    setTimeout(() => this.#forgetLink(link), answersMs).unref();
    const own = [...this.jobs.values()].filter((entry) => entry.link === link);
    const shells = [...this.sessions].filter((entry) => entry.link === link);
    for (const entry of [...own, ...shells]) entry.link = null;
    const { graceMs } = link;
    if (graceMs === null) return;
    for (const entry of own) if (entry.job.kept) this.#orphan(entry, link);
    for (const entry of shells) if (entry.keeping) this.#orphanSession(entry, link);
    if (graceMs > 0) setTimeout(() => void this.#endAfterGrace(link), toDelay(graceMs)).unref();
    else await this.#endAfterGrace(link);
    this.tidy();
  }

  /** Ends the orphans selected by `isMeant` that are not kept without a link. */
  async endUnkept(isMeant: (entry: JobEntry | SessionEntry) => boolean): Promise<void> {
    const isOver = (entry: JobEntry | SessionEntry) => entry.link === null && isMeant(entry);
    const shells = [...this.sessions].filter((entry) => isOver(entry) && !entry.keeping);
    const jobs = [...this.jobs.values()].filter(
      (entry) => isOver(entry) && !(entry.job.kept && entry.job.hasStarted),
    );
    await Promise.allSettled([
      ...jobs.map((entry) => this.end(entry)),
      ...shells.map((entry) => this.closeSession(entry)),
    ]);
    this.tidy();
  }

  /** Kills a job and forgets it. */
  async end(entry: JobEntry): Promise<void> {
    const { job } = entry;
    await job.worker.stop(job.id, kill).catch(() => {});
    if (job.hasStarted) await job.ended.catch(() => {});
    await this.dispose(entry).catch(() => this.discard(entry));
  }

  /** Ends or keeps jobs and shells of the last link of the same name that the new link does not know. */
  endForgotten(link: Link): void {
    for (const entry of this.jobs.values())
      if (entry.link === null && entry.linkName === link.name && entry.job.kept) this.#orphan(entry, link);
    void this.endUnkept(({ linkName }) => linkName === link.name);
  }

  async closeSession(entry: SessionEntry): Promise<ClosedSession | null> {
    clearTimeout(entry.timer);
    this.sessions.delete(entry);
    const closed = await entry.hosted.worker.closeSession(entry.key).catch(() => null);
    this.tidy();
    return closed;
  }

  /** Closes workers that no link or job uses; calls `onIdle` if nothing is left. */
  tidy(): void {
    if (this.#isClosed) return;
    // The output of an ended job that is not kept is in its worker, and a link that is opened again may read it.
    const used = new Set<HostedWorker | null>([
      ...this.links.flatMap((link) => link.workers()),
      ...[...this.jobs.values()].flatMap(({ job, hosted }) => (job.hasEnded && job.kept ? [] : [hosted])),
      ...[...this.sessions].map(({ hosted }) => hosted),
    ]);
    for (const hosted of this.#workers) {
      if (used.has(hosted)) continue;
      this.#workers.delete(hosted);
      const closing = this.#closeWorker(hosted).finally(() => this.#closing.delete(closing));
      this.#closing.add(closing);
    }
    if (this.#isIdle) void this.#leave();
  }

  get #isIdle(): boolean {
    return this.#workers.size === 0 && this.#links.size === 0;
  }

  // Helpers that a closing `HostedWorker` has not reaped yet would become zombies where PID 1 reaps nothing.
  async #leave(): Promise<void> {
    await Promise.all(this.#closing);
    if (this.#isIdle && !this.#isClosed) this.options.onIdle();
  }

  /** True if the worker ends once this link is closed, because nothing is left to keep. */
  endsAfter(link: Link): boolean {
    const isKept = [...this.jobs.values()].some(({ job }) => job.kept && !job.hasEnded);
    return !isKept && this.sessions.size === 0 && this.links.every((other) => other === link);
  }

  /** Ends every job and shell; ends are recorded as usual. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const running = [...this.jobs.values()].filter(({ job }) => !job.hasEnded);
    const stopped = running.map(async ({ job }) => {
      await job.worker.stop(job.id, stopOnClose);
      await job.ended;
    });
    await settlesWithin(Promise.allSettled(stopped), closeMs);
    for (const { timer } of [...this.jobs.values(), ...this.sessions]) clearTimeout(timer);
    this.spare.close();
    await Promise.all([...this.#workers].map((hosted) => this.#closeWorker(hosted)));
  }

  #forgetLink(last: Link): void {
    const { name } = last;
    if (this.#lastLinks.get(name) === last) this.#lastLinks.delete(name);
    if (!this.links.some((link) => link.name === name)) this.#answers.delete(name);
  }

  async #closeWorker({ worker }: HostedWorker): Promise<void> {
    await settlesWithin(worker.close(), closeMs).catch(() => {});
  }

  // If this link was reopened under the same name, the later link decides about its jobs and shells.
  async #endAfterGrace(link: Link): Promise<void> {
    if (this.#lastLinks.get(link.name) === link)
      await this.endUnkept(({ linkName }) => linkName === link.name);
  }

  #orphan(entry: JobEntry, { orphanMs }: Link): void {
    const { job } = entry;
    clearTimeout(entry.timer);
    const stop = () => void job.worker.stop(job.id, stopOnClose).catch(() => {});
    if (job.hasEnded) this.#expire(entry);
    else if (job.hasStarted) entry.timer = setTimeout(stop, toDelay(orphanMs));
  }

  #orphanSession(entry: SessionEntry, { orphanMs }: Link): void {
    entry.timer = setTimeout(() => void this.closeSession(entry), toDelay(orphanMs));
  }

  // The result of an ended orphan stays for its tombstone time.
  #expire(entry: JobEntry): void {
    clearTimeout(entry.timer);
    const remove = () => void this.dispose(entry).catch(() => {});
    entry.timer = setTimeout(remove, toDelay(entry.job.kept?.tombstoneMs ?? 0)).unref();
  }
}

// The longest delay that `setTimeout` accepts.
function toDelay(ms: number): number {
  return Math.min(ms, 2_147_483_647);
}
