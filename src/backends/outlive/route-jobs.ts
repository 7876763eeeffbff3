// Two workers behind one backend. Commands that a call waits for run in this process, which is fastest. Background
// commands and persistent shells run in the detached worker, which starts with the first of them and outlives this
// process. In a sandbox everything runs there, because the commands of a connection share a loopback and a /tmp.
import type { Backend } from '../../contract/backend.ts';
import { jobNotFound } from '../../contract/failure.ts';
import type { JobSpec } from '../../contract/job.ts';
import { jobMethods } from '../job-methods.ts';

/** The detached worker as a backend. */
export interface DetachedBackend extends Backend {
  /** Connects to it, and starts it if there is none. */
  open(): Promise<void>;
  /** True once a call has opened the stream. */
  hasBegun(): boolean;
  /** The name of the worker that answered last; empty if none ever did. */
  worker(): string;
}

/** Options of `routeJobs`. */
export interface RouteOptions {
  /** True if the settings put every command into a sandbox. */
  readonly isSandboxed: boolean;
  /** False if commands run in this process where the detached worker cannot be started. */
  readonly isRequired: boolean;
  /** Reports that it could not be started. */
  log(line: string): void;
  /** True if a detached worker runs, or if one has left commands on disk. */
  hasKept(): boolean;
}

/** Combines a worker in this process with the detached worker. */
export function routeJobs(local: Backend, detached: DetachedBackend, options: RouteOptions): Backend {
  const jobs = new Map<string, Backend>();
  const of = (id: string): Backend => {
    const backend = jobs.get(id);
    if (!backend) throw jobNotFound(id);
    return backend;
  };
  const chooseKeeper = createKeeper(local, detached, options);
  const both = () => (detached.hasBegun() ? [local, detached] : [local]);
  const isDetached = ({ session, beginsAs, keeping, isolation }: JobSpec) =>
    (keeping !== undefined && (keeping.outlives || session !== undefined)) ||
    session !== undefined ||
    beginsAs !== undefined ||
    options.isSandboxed ||
    (isolation?.sandbox !== undefined && isolation.sandbox !== 'off');
  return {
    ...jobMethods(of),
    abilities: local.abilities,
    warmUp: () => local.warmUp(),
    environmentSecrets: (rules) => local.environmentSecrets(rules),
    report: () => local.report(),
    async usage() {
      const all = await Promise.all(both().map((backend) => backend.usage()));
      return { spoolBytes: all.reduce((sum, { spoolBytes }) => sum + spoolBytes, 0) };
    },
    inspect: async (query) => (query.session === undefined ? local : await chooseKeeper()).inspect(query),
    async prepare(spec) {
      const backend = isDetached(spec) ? await chooseKeeper() : local;
      jobs.set(spec.id, backend);
      await backend.prepare(backend === local ? { ...spec, keeping: undefined } : spec);
    },
    list: async () => (await Promise.all(both().map((backend) => backend.list()))).flat(),
    async dispose(id) {
      const backend = of(id);
      await backend.dispose(id);
      jobs.delete(id);
    },
    detach: async (session) => (await chooseKeeper()).detach(session),
    listSessions: async () => (await Promise.all(both().map((backend) => backend.listSessions()))).flat(),
    closeSession: async (key) => (detached.hasBegun() ? detached : local).closeSession(key),
    listRooms: async () => (await Promise.all(both().map((backend) => backend.listRooms()))).flat(),
    openPort: async (port) => (await chooseKeeper()).openPort(port),
    closePort: async (hostPort) => (detached.hasBegun() ? detached : local).closePort(hostPort),
    async closeRoom(room) {
      await Promise.all(both().map((backend) => backend.closeRoom(room)));
    },
    // Kept changes are in the state folder, which both workers share.
    changesFault: () => local.changesFault(),
    listChanges: (owner) => local.listChanges(owner),
    scanChanges: (action, limit) => local.scanChanges(action, limit),
    showChanges: (action, limits) => local.showChanges(action, limits),
    applyChanges: (action) => local.applyChanges(action),
    discardChanges: (action) => local.discardChanges(action),
    undoChanges: (action) => local.undoChanges(action),
    async takeUp(request) {
      if (!detached.hasBegun() && !options.hasKept()) return [];
      const kept = await detached.takeUp(request);
      for (const { id } of kept) jobs.set(id, detached);
      return kept;
    },
    async close() {
      await Promise.all([local.close(), detached.close()]);
    },
  };
}

// Decided once: the commands of one connection must all run in the same worker.
function createKeeper(
  local: Backend,
  detached: DetachedBackend,
  { isRequired, log }: RouteOptions,
): () => Promise<Backend> {
  let chosen: Promise<Backend> | undefined;
  const choose = async () => {
    try {
      await detached.open();
      return detached;
    } catch (error) {
      // This does not use `hasBegun`, which is true while the stream is being reopened.
      if (isRequired || detached.worker() !== '') throw error;
      const reason = error instanceof Error ? error.message : String(error);
      log(`${reason} Background commands and persistent shells end with this server.`);
      return local;
    }
  };
  return () => {
    chosen ??= choose().catch((error: unknown) => {
      chosen = undefined;
      throw error;
    });
    return chosen;
  };
}
