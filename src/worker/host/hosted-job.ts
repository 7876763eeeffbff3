// A job of a worker at the far end of a stream, or the files of an earlier worker's job:
// 1. `follow` gives each link a `JobFeed`, which pushes output and states to it,
// 2. at its end, the log is on disk and the end signed and written, before any link learns of it,
// 3. an ended job that outlives its connection is released by the worker and read from disk from then on.
import { join } from 'node:path';
import type { KeptCommand } from '../../contract/backend.ts';
import { jobNotFound } from '../../contract/failure.ts';
import type { Cursor, JobSpec, JobState, ReadResult, TerminalSize } from '../../contract/job.ts';
import { inputClosed, noTerminal } from '../command-streams.ts';
import { outsideLog, type ReadOptions } from '../job-output.ts';
import type { Worker } from '../worker.ts';
import {
  type KeptRecord,
  type KeptSpec,
  lastWritten,
  markSettled,
  removeKept,
  writeEnd,
  writeLink,
} from './kept-job.ts';
import { PastLog } from './past-log.ts';
import type { SpareFolder } from './spare-folder.ts';

/** Signs the end of a job. */
export type SignEnd = (state: JobState) => JobState;

const foreverMs = 1_000_000_000;
// Larger than any realistic input. Beyond it, later input cannot be judged, because the shell's state is unknown.
const maxTypedChars = 1_000_000;

/** One job, while it runs or afterwards. */
export class HostedJob {
  readonly id: string;
  /** Present if it outlives its connection. */
  readonly kept: KeptSpec | undefined;
  /** Resolves at its end, once that is on disk. */
  readonly ended: Promise<void>;
  readonly #folder: string;
  readonly #hide = new Set<string>();
  #worker: Worker | null = null;
  #past: PastLog | null = null;
  #end: JobState | null = null;
  #typed: string | undefined = '';
  #size: TerminalSize | undefined;
  #isSettled = false;
  #hasStarted = false;
  #hasEnded = false;

  private constructor(
    id: string,
    kept: KeptSpec | undefined,
    folder: string,
    ending: (job: HostedJob) => Promise<void>,
  ) {
    this.id = id;
    this.kept = kept;
    this.#folder = folder;
    this.#size = kept?.terminal;
    this.ended = ending(this);
  }

  /** A job that `worker` is about to prepare; `folder` is where it is kept. */
  static create(
    spec: JobSpec,
    place: {
      readonly worker: Worker;
      readonly folder: string;
      readonly spare: SpareFolder;
      readonly link: string;
      readonly tombstoneMs: number;
    },
    sign: SignEnd,
    begun: Promise<unknown>,
  ): HostedJob {
    const { worker, folder, spare, link, tombstoneMs } = place;
    const { id, command, cwd, stdin, terminal, keeping } = spec;
    const kept = keeping?.outlives
      ? {
          id,
          command,
          cwd,
          stdin,
          terminal,
          keeping,
          link,
          tombstoneMs,
          preparedAt: new Date().toISOString(),
        }
      : undefined;
    if (kept) spare.write(folder, kept);
    return new HostedJob(id, kept, folder, async (job) => {
      job.#worker = worker;
      job.#size = terminal;
      await begun;
      job.#hasStarted = true;
      await job.#followToEnd(worker, sign);
    });
  }

  /** A job that an earlier worker left on disk; without an end it is lost. */
  static async restore({ spec, end, isSettled }: KeptRecord, folder: string): Promise<HostedJob> {
    const past = new PastLog(join(folder, 'log'));
    const state = end ?? toLost(spec, await past.sizes(), await lastWritten(folder));
    return new HostedJob(spec.id, spec, folder, async (job) => {
      job.#past = past;
      job.#end = state;
      job.#typed = undefined;
      job.#isSettled = isSettled;
      job.#hasStarted = true;
      job.#hasEnded = true;
    });
  }

  get hasEnded(): boolean {
    return this.#hasEnded;
  }

  get hasStarted(): boolean {
    return this.#hasStarted;
  }

  get isSettled(): boolean {
    return this.#isSettled;
  }

  /** The worker that runs it; throws if it has ended and only its record is left. */
  get worker(): Worker {
    if (!this.#worker) throw jobNotFound(this.id);
    return this.#worker;
  }

  get isPast(): boolean {
    return this.#past !== null;
  }

  /** The bytes on disk of a log that no worker has any more; 0 while it runs. */
  async logBytes(): Promise<number> {
    return this.#past ? this.#past.bytesOnDisk() : 0;
  }

  /** Removes the log of an ended job, whose end stays. */
  async evictLog(): Promise<void> {
    await this.#past?.remove();
  }

  /** An end is reported only once it is signed and on disk. */
  async state(): Promise<JobState> {
    const state = this.#end ?? (await this.worker.wait(this.id, 0));
    if (!state.end || !this.kept || !this.#hasStarted) return state;
    await this.ended.catch(() => {});
    return this.#end ?? state;
  }

  async read(from: Cursor, options: ReadOptions): Promise<ReadResult> {
    const [past, end] = [this.#past, this.#end];
    if (!past || !end) return this.worker.read(this.id, from, options);
    const total = end.stdoutBytes + end.stderrBytes;
    if (from > total) throw outsideLog(from, total);
    const chunks = await past.read(from, options.maxBytes);
    const next = chunks.reduce((at, { data }) => at + data.length, from);
    // The recorded end has the size of a log even after the log was removed to make room for others.
    if (chunks.length === 0 && from < total && (options.maxBytes > 0 || (await past.bytesOnDisk()) === 0))
      return {
        chunks,
        next: options.maxBytes > 0 ? total : from,
        end: total,
        final: true,
        goneBefore: total,
      };
    return { chunks, next, end: total, final: true };
  }

  async write(
    data: Uint8Array,
    { eof, hide }: { readonly eof?: boolean | undefined; readonly hide?: readonly string[] | undefined },
  ): Promise<void> {
    if (this.#past) throw inputClosed(this.id);
    for (const secret of hide ?? []) this.#hide.add(secret);
    this.#remember(Buffer.from(data).toString());
    await this.worker.write(this.id, data, { ...(eof !== undefined && { eof }) });
  }

  async resize(size: TerminalSize): Promise<void> {
    if (this.#past) throw noTerminal(this.id);
    await this.worker.resize(this.id, size);
    this.#size = size;
  }

  /** Records on disk that `link` owns the job now, instead of the link that started it. */
  recordLink(link: string): void {
    if (!this.kept) return;
    try {
      writeLink(this.#folder, link);
    } catch {
      // A full disk must not prevent `takeUp`. Without the record, a worker that replaces this one assigns the job to its former link.
    }
  }

  settle(): void {
    this.#isSettled = true;
    if (this.kept) markSettled(this.#folder);
  }

  async dispose(): Promise<void> {
    await this.#worker?.dispose(this.id);
    if (this.kept) await removeKept(this.#folder);
  }

  async toKeptCommand(): Promise<KeptCommand | undefined> {
    const { kept } = this;
    if (!kept) return undefined;
    const { id, command, cwd, stdin, keeping } = kept;
    const more = {
      state: await this.state(),
      typed: this.#typed,
      hide: [...this.#hide],
      isSettled: this.#isSettled,
    };
    return { id, command, cwd, stdin, terminal: this.#size, keeping, ...more };
  }

  #remember(text: string): void {
    const typed = this.#typed === undefined ? undefined : this.#typed + text;
    this.#typed = typed !== undefined && typed.length <= maxTypedChars ? typed : undefined;
  }

  async #followToEnd(worker: Worker, sign: SignEnd): Promise<void> {
    let state = await worker.wait(this.id, foreverMs);
    while (!state.end) state = await worker.wait(this.id, foreverMs);
    if (this.kept) await this.#keepEnd(worker, sign(state));
    this.#hasEnded = true;
  }

  async #keepEnd(worker: Worker, state: JobState): Promise<void> {
    await worker.written(this.id);
    await writeEnd(this.#folder, state).catch(() => {});
    this.#end = state;
    // Processes that its persistent shell still runs may write to its log, so the worker keeps the log open.
    if (state.end?.leftRunning.length === 0) await this.#release(worker);
  }

  async #release(worker: Worker): Promise<void> {
    this.#past = new PastLog(join(this.#folder, 'log'));
    this.#worker = null;
    await worker.dispose(this.id).catch(() => {});
  }
}

const lostDetail =
  'The worker that ran it is gone: it was killed, or the machine was restarted. Its exit code is not known; its output is complete up to the last byte that was written to disk.';

function toLost(
  { id, preparedAt }: KeptSpec,
  { stdout, stderr }: { readonly stdout: number; readonly stderr: number },
  lastWriteMs: number,
): JobState {
  return {
    ...{ id, status: 'lost', pid: null, startedAt: preparedAt, outlives: true },
    durationMs: Math.max(0, Math.round(lastWriteMs - Date.parse(preparedAt))),
    ...{ stdoutBytes: stdout, stderrBytes: stderr, withheldEnv: [], enforcement: null, resources: null },
    end: {
      ...{ cause: 'worker_lost', exitCode: null, signal: null, detail: lostDetail },
      ...{ leftRunning: [], kept: [], survivors: [], deniedHosts: [] },
    },
  };
}
