import { stopOnClose } from '../contract/backend.ts';
import { jobNotFound, shuttingDown, stillRunning } from '../contract/failure.ts';
import type { Job } from './job.ts';
import { NotExecutableError } from './start/start-failures.ts';
import type { Started } from './start/starter.ts';

/** A `Job` whose process is still to be started. */
export interface Launch {
  readonly job: Job;
  /** False if the command runs as soon as its process is started; true if `Job.begin` runs it. */
  readonly waitsForOrder: boolean;
  start(): Promise<Started>;
}

/** The jobs of a worker by id; an ended job stays until `dispose`. */
export class JobRegistry {
  readonly #jobs = new Map<string, Job>();
  readonly #starting = new Map<string, Promise<void>>();
  #isClosed = false;

  /** Returns a job; throws `job_not_found` if there is none with this id. */
  find(id: string): Job {
    const job = this.#jobs.get(id);
    if (!job) throw jobNotFound(id);
    return job;
  }

  /** Returns a job once its process is started, because before that it can neither get input nor be stopped. */
  async findStarted(id: string): Promise<Job> {
    await this.#starting.get(id)?.catch(() => {});
    return this.find(id);
  }

  list(): readonly Job[] {
    return [...this.#jobs.values()];
  }

  /** Starts the process of a job; a second call for the same id waits for the first. */
  async launch(id: string, prepare: () => Promise<Launch>): Promise<void> {
    if (this.#isClosed) throw shuttingDown();
    if (this.#starting.has(id) || this.#jobs.has(id)) return this.#starting.get(id);
    const launched = this.#launch(id, prepare).finally(() => this.#starting.delete(id));
    this.#starting.set(id, launched);
    return launched;
  }

  /** Calls `Job.begin`, if there is a job with this id. */
  begin(id: string): void {
    this.#jobs.get(id)?.begin();
  }

  /** Stops a job when its persistent shell closes; does nothing if its `launch` failed. */
  async stopOnClose(id: string): Promise<void> {
    await this.#starting.get(id)?.catch(() => {});
    await this.#jobs.get(id)?.stop('stopped', stopOnClose);
  }

  /** Forgets an ended job and deletes its output. */
  async dispose(id: string): Promise<void> {
    const job = this.find(id);
    if (!job.state().end) throw stillRunning(id);
    this.#jobs.delete(id);
    await job.dispose();
  }

  /** Makes `launch` throw from now on, stops all jobs and disposes of them. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.allSettled(this.#starting.values());
    await Promise.all(this.list().map((job) => job.stop('stopped', stopOnClose)));
    await Promise.all(this.list().map((job) => job.dispose()));
    this.#jobs.clear();
  }

  async #launch(id: string, prepare: () => Promise<Launch>): Promise<void> {
    const { job, waitsForOrder, start } = await prepare();
    this.#jobs.set(id, job);
    try {
      job.attach(await start());
      if (!waitsForOrder) job.begin();
    } catch (error) {
      if (error instanceof NotExecutableError) return job.refuse(error.message);
      this.#jobs.delete(id);
      throw error;
    }
  }
}
