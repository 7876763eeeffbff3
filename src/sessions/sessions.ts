// The commands of one server:
// 1. `prepare` checks `maxRunning` and registers the command, `start` runs it, `discard` undoes `prepare`
// 2. `ended` makes a command a tombstone, whose result and output stay readable; `forget` disposes of it later
// 3. `registry` finds commands by owner, id and name; the queues put calls for one shell or one stdin in order
import type { Backend, StopOptions } from '../contract/backend.ts';
import { NacreError } from '../contract/failure.ts';
import type { JobSpec } from '../contract/job.ts';
import type { Share } from '../contract/share.ts';
import { FairShares } from '../support/fair-shares.ts';
import { type CommandRegistry, createCommandRegistry, type Registration } from './command-registry.ts';
import { createTurnQueue, type TurnQueue } from './turn-queue.ts';

/** Tracks which commands run, and which ended ones can still be read. */
export interface Sessions {
  /** Prepares a job without running it; rejects at `maxRunning`, or at the caller's share of it. Only registered jobs can be found later. */
  prepare(spec: JobSpec, registration?: Registration, share?: Share): Promise<void>;
  /** Runs a prepared job. */
  start(id: string): Promise<void>;
  /** Registers a job of an earlier process, which may have ended. */
  adopt(spec: Pick<JobSpec, 'id' | 'machine' | 'command' | 'cwd'>, registration: Registration): void;
  /** Releases a job that was prepared and did not start. */
  discard(id: string): Promise<void>;
  /** Marks a job as ended, which makes room for another one and starts its tombstone time. */
  ended(id: string): void;
  /** Disposes of an ended job before its tombstone expires. */
  forget(id: string): void;
  /** How many commands run now, including those that a call waits for. */
  countRunning(): number;
  readonly registry: Omit<CommandRegistry, 'add' | 'remove'>;
  /** Calls for the same persistent shell, by session key. */
  readonly shellQueue: TurnQueue;
  /** Writes to the same command, by command id. */
  readonly inputQueue: TurnQueue;
  /** Reads of the same command by the same reader, whose position they share. */
  readonly readQueue: TurnQueue;
  /** Working directories of persistent shells, by session key. */
  readonly shellCwds: Map<string, ShellCwd>;
  close(): void;
}

/** The `cwd` that callers requested for a persistent shell, and the last one that policy allowed. */
export interface ShellCwd {
  readonly requested: string | undefined;
  readonly allowed: string;
  /** The shell's directory after its last command; undefined before the first one has ended. */
  readonly last?: string | undefined;
}

/** Limits on running and ended commands. */
export interface SessionLimits {
  readonly maxRunning: number;
  readonly tombstoneSeconds: number;
}

const kill: StopOptions = { signal: 'SIGKILL', graceMs: 0 };
// Small outputs stay in memory, so tombstones are also limited by number.
const maxTombstones = 256;

/** Creates the sessions of a backend. */
export function createSessions(backend: Backend, limits: SessionLimits): Sessions {
  const running = new Map<string, () => void>();
  const shares = new FairShares(limits.maxRunning);
  const tombstones = new Map<string, NodeJS.Timeout>();
  const registry = createCommandRegistry((id) => running.has(id));

  const endRunning = (id: string) => {
    running.get(id)?.();
    return running.delete(id);
  };

  const forget = (id: string) => {
    clearTimeout(tombstones.get(id));
    tombstones.delete(id);
    registry.remove(id);
    backend.dispose(id).catch(() => {});
  };

  const forgetOldest = () => {
    const [oldest] = tombstones.keys();
    if (oldest !== undefined && tombstones.size > maxTombstones) forget(oldest);
  };

  return {
    registry,
    shellQueue: createTurnQueue(),
    inputQueue: createTurnQueue(),
    readQueue: createTurnQueue(),
    shellCwds: new Map(),
    forget,
    countRunning: () => running.size,
    async prepare(spec, registration, share) {
      if (!shares.hasPlace(share)) throw tooManyRunning(shares.count(share), share);
      if (registration) registry.add(spec, registration);
      running.set(spec.id, shares.start(share));
      await backend.prepare(spec);
    },
    start: (id) => backend.start(id),
    adopt(spec, registration) {
      registry.add(spec, registration);
      running.set(spec.id, shares.start(undefined));
    },
    async discard(id) {
      endRunning(id);
      registry.remove(id);
      // `stop` rejects if the backend never prepared the job; then nothing is left to dispose of.
      await backend.stop(id, kill).then(
        () => backend.dispose(id),
        () => {},
      );
    },
    ended(id) {
      if (!endRunning(id)) return;
      const timer = setTimeout(() => forget(id), limits.tombstoneSeconds * 1_000);
      tombstones.set(id, timer.unref());
      // Runs after the reply has been sent, because disposing of a spool takes time.
      if (tombstones.size > maxTombstones) setImmediate(forgetOldest);
    },
    close() {
      for (const timer of tombstones.values()) clearTimeout(timer);
      tombstones.clear();
    },
  };
}

function tooManyRunning(count: number, share: Share | undefined): NacreError {
  const whose = share ? ' for this token, which is its share' : ', which is the limit';
  return new NacreError('resources_unavailable', `${count} commands are already running${whose}.`, {
    hint: 'Wait until one has ended, or raise max_running.',
  });
}
