import type { Backend } from '../contract/backend.ts';
import { NacreError } from '../contract/failure.ts';
import type { JobSpec } from '../contract/job.ts';

/** Which commands there are: how many run at once, and how long ended ones can still be asked about. */
export interface Sessions {
  /** Starts a job once there is room; rejects at the cap. */
  start(spec: JobSpec): Promise<void>;
  /** Notes that a job has ended and when it may be forgotten. */
  ended(id: string): void;
  close(): void;
}

/** What is kept and for how long. */
export interface SessionLimits {
  readonly maxRunning: number;
  readonly tombstoneSeconds: number;
}

// Tombstones of small outputs live in memory: a number of them is kept, however young.
const maxTombstones = 256;

/** Keeps track of a backend's commands. */
export function createSessions(backend: Backend, limits: SessionLimits): Sessions {
  const running = new Set<string>();
  const tombstones = new Map<string, NodeJS.Timeout>();

  const forget = (id: string) => {
    clearTimeout(tombstones.get(id));
    tombstones.delete(id);
    backend.dispose(id).catch(() => {});
  };

  return {
    async start(spec) {
      if (running.size >= limits.maxRunning) throw tooMany(limits.maxRunning);
      running.add(spec.id);
      try {
        await backend.start(spec);
      } catch (error) {
        running.delete(spec.id);
        throw error;
      }
    },
    ended(id) {
      if (!running.delete(id)) return;
      const timer = setTimeout(() => forget(id), limits.tombstoneSeconds * 1_000);
      tombstones.set(id, timer.unref());
      const [oldest] = tombstones.keys();
      if (tombstones.size > maxTombstones && oldest !== undefined) forget(oldest);
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
