import { createHash } from 'node:crypto';
import type { ExecList } from '../../contract/isolation.ts';
import type { ProcessTable } from '../processes/process-table.ts';
import { createWorker, type Worker } from '../worker.ts';
import type { WorkerOptions } from '../worker-options.ts';

/** A worker with the settings of one server. */
export interface HostedWorker {
  readonly worker: Worker;
  /** Equal for servers whose commands are restricted in the same way. */
  readonly profile: string;
  /** Replaces the list of programs that its commands may execute. */
  setExec(list: ExecList | null): void;
}

// Options that do not restrict commands: a restarted server may change them and still use the persistent shells of the
// previous server.
const harmless: ReadonlySet<string> = new Set(['environment', 'keptFolder', 'warmShells', 'execGuard']);

/** Creates a worker from options as they arrive from a server. */
export function createHostedWorker(
  options: Readonly<Record<string, unknown>>,
  place: { readonly keptFolder: string; readonly table: ProcessTable },
  exec: ExecList | null,
): HostedWorker {
  let list = exec;
  const own = options as unknown as WorkerOptions;
  const worker = createWorker({ ...own, ...place, execAllow: () => list ?? undefined });
  return {
    worker,
    profile: toProfile(options),
    setExec(next) {
      list = next;
    },
  };
}

/** A digest of everything in the options that restricts commands. */
export function toProfile(options: Readonly<Record<string, unknown>>): string {
  const kept = Object.entries(options).filter(([name]) => !harmless.has(name));
  const sorted = kept.toSorted(([one], [other]) => (one < other ? -1 : 1));
  return createHash('sha256').update(JSON.stringify(sorted)).digest('hex');
}
