import type { Backend, StopOptions } from '../contract/backend.ts';
import { NacreError } from '../contract/failure.ts';
import type { JobSpec } from '../contract/job.ts';
import { type Belonging, type CommandBook, createCommandBook } from './command-registry.ts';
import { createTurns, type Turns } from './turn-queue.ts';

/** Which commands there are: how many run at once, and how long ended ones can still be asked about. */
export interface Sessions {
  /**
   * Starts a job once there is room; rejects at the cap. Whose it is decides who can ask about it. `beforeRun` is called
   * when all is ready and nothing of it has run; what it throws keeps the job from running.
   */
  start(spec: JobSpec, belonging?: Belonging, beforeRun?: () => void): Promise<void>;
  /** Notes that a job has ended and when it may be forgotten. */
  ended(id: string): void;
  /** Forgets a job that has ended before its time. */
  forget(id: string): void;
  readonly book: Omit<CommandBook, 'add' | 'remove'>;
  /** The lines before persistent shells. */
  readonly turns: Turns;
  /** The lines before commands that are typed into. */
  readonly inputs: Turns;
  /** Where each persistent shell was sent, and where it was last allowed to be. */
  readonly places: Map<string, ShellPlace>;
  close(): void;
}

/** The directory that a caller names for its shell, and the last one in which the shell may stand. */
export interface ShellPlace {
  readonly asked: string | undefined;
  readonly allowed: string;
}

/** What is kept and for how long. */
export interface SessionLimits {
  readonly maxRunning: number;
  readonly tombstoneSeconds: number;
}

const byForce: StopOptions = { signal: 'SIGKILL', graceMs: 0 };
// Tombstones of small outputs live in memory: a number of them is kept, however young.
const maxTombstones = 256;

/** Keeps track of a backend's commands. */
export function createSessions(backend: Backend, limits: SessionLimits): Sessions {
  const running = new Set<string>();
  const tombstones = new Map<string, NodeJS.Timeout>();
  const book = createCommandBook((id) => running.has(id));

  const forget = (id: string) => {
    clearTimeout(tombstones.get(id));
    tombstones.delete(id);
    book.remove(id);
    backend.dispose(id).catch(() => {});
  };

  const forgetOldest = () => {
    const [oldest] = tombstones.keys();
    if (oldest !== undefined && tombstones.size > maxTombstones) forget(oldest);
  };

  return {
    book,
    turns: createTurns(),
    inputs: createTurns(),
    places: new Map(),
    forget,
    async start(spec, belonging, beforeRun) {
      if (running.size >= limits.maxRunning) throw tooMany(limits.maxRunning);
      if (belonging) book.add(spec, belonging);
      running.add(spec.id);
      try {
        await backend.prepare(spec);
        beforeRun?.();
        await backend.start(spec);
      } catch (error) {
        running.delete(spec.id);
        book.remove(spec.id);
        // It may wait for its order; where nothing was made there is nothing to end.
        await backend.stop(spec.id, byForce).then(
          () => backend.dispose(spec.id),
          () => {},
        );
        throw error;
      }
    },
    ended(id) {
      if (!running.delete(id)) return;
      const timer = setTimeout(() => forget(id), limits.tombstoneSeconds * 1_000);
      tombstones.set(id, timer.unref());
      // Whoever waits for the end does not wait for this.
      if (tombstones.size > maxTombstones) setImmediate(forgetOldest);
    },
    close() {
      for (const timer of tombstones.values()) clearTimeout(timer);
      tombstones.clear();
    },
  };
}

function tooMany(maxRunning: number): NacreError {
  return new NacreError(
    'resources_unavailable',
    `${maxRunning} commands are running already, which is the limit.`,
    {
      hint: 'Wait until one has ended, or raise max_running.',
    },
  );
}
