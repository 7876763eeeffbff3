// One backend for several machines: a job runs on the machine that its spec names, and every later call about it goes
// there. The first call for a machine opens its connection, so a machine that is off does not delay calls for others.
import { jobMethods } from '../backends/job-methods.ts';
import type { RemoteBackend } from '../backends/remote/create-remote-backend.ts';
import type { Backend } from '../contract/backend.ts';
import type { FactsMachine } from '../contract/facts.ts';
import { NacreError } from '../contract/failure.ts';
import type { JobSpec } from '../contract/job.ts';
import type { FarChanges } from './far-changes.ts';
import type { FarOutlive } from './far-outlive.ts';
import { hasAnswered } from './has-answered.ts';
import { RouteChanges } from './route-changes.ts';

/** The backend of another machine. */
export interface MachineBackend extends Backend, Pick<RemoteBackend, 'worker' | 'takeUpKnown' | 'secrets'> {
  /** False if the machine is removed with its connection, such as a container that nacre creates. */
  readonly keepsJobs: boolean;
}

/** Combines the backend of this machine with those of others. */
export function routeMachines(
  local: Backend,
  others: ReadonlyMap<string, MachineBackend>,
  { outlive, farChanges }: { readonly outlive: FarOutlive; readonly farChanges: FarChanges },
): Backend {
  const places = new Places(local, others);
  const changes = new RouteChanges(local, others, farChanges);
  const { of, answering } = places;
  return {
    ...local,
    ...jobMethods(of),
    async usage() {
      const all = await Promise.all(answering().map((backend) => backend.usage().catch(() => nothing)));
      return { spoolBytes: all.reduce((sum, { spoolBytes }) => sum + spoolBytes, 0) };
    },
    async inspect(query) {
      const { machine, ...asked } = query;
      if (machine === undefined) return local.inspect(asked);
      const backend = places.machine(machine);
      const facts = await backend.inspect(asked);
      return { ...facts, machine: { name: machine, worker: backend.worker() } satisfies FactsMachine };
    },
    async prepare(spec) {
      const { machine, ...rest } = spec;
      if (machine === undefined) return local.prepare(rest);
      const backend = places.machine(machine);
      places.add(spec, backend);
      changes.expect(spec, machine);
      if (backend.keepsJobs) outlive.record(rest, machine);
      await backend.prepare(backend.keepsJobs ? outlive.toFarSpec(rest) : withoutRules(rest));
    },
    async start(id) {
      try {
        await of(id).start(id);
      } catch (error) {
        outlive.forget(id);
        throw error;
      }
    },
    async wait(id, waitMs) {
      const state = await of(id).wait(id, waitMs);
      changes.record(state);
      return state;
    },
    async settle(id) {
      outlive.settle(id);
      await of(id).settle(id);
    },
    list: async () => (await Promise.all(answering().map((backend) => backend.list()))).flat(),
    async dispose(id) {
      outlive.forget(id);
      await of(id).dispose(id);
      places.remove(id);
      changes.forget(id);
    },
    async takeUp(request) {
      const [here, far] = await Promise.all([
        local.takeUp(request).catch(() => []),
        outlive.takeUp(request, others).catch(() => []),
      ]);
      for (const { backend, command, session } of far) places.addTakenUp(command?.id, session, backend);
      return [...here, ...far.flatMap(({ command }) => command ?? [])];
    },
    ...sessionMethods(places, outlive),
    async closeRoom(room) {
      await Promise.all(answering().map((backend) => backend.closeRoom(room).catch(() => {})));
    },
    ...changes.methods(),
    async close() {
      await Promise.all([local.close(), ...[...others.values()].map((backend) => backend.close())]);
    },
  };
}

function sessionMethods(
  places: Places,
  outlive: FarOutlive,
): Pick<Backend, 'detach' | 'listSessions' | 'closeSession'> {
  const { ofSession, answering } = places;
  return {
    detach: async (session) => ofSession(session).detach(session),
    async listSessions() {
      const listed = answering().map(async (backend) => {
        const sessions = await backend.listSessions().catch(() => []);
        // A hostile machine could list keys of shells that run elsewhere.
        return sessions.filter(({ key }) => ofSession(key) === backend);
      });
      return (await Promise.all(listed)).flat();
    },
    async closeSession(key) {
      const machine = places.machineOfSession(key);
      if (machine !== undefined) outlive.forgetShell(machine, key);
      return ofSession(key).closeSession(key);
    },
  };
}

// Another machine does not need `judgedBy`, the rules that judge input.
function withoutRules(spec: JobSpec): JobSpec {
  return spec.keeping ? { ...spec, keeping: { ...spec.keeping, judgedBy: undefined } } : spec;
}

const nothing = { spoolBytes: 0 };

/** Maps jobs and persistent shells to the backend of their machine. */
class Places {
  readonly #local: Backend;
  readonly #others: ReadonlyMap<string, MachineBackend>;
  // These maps contain ids of other machines only; an id that is missing is local.
  readonly #jobs = new Map<string, Backend>();
  readonly #sessions = new Map<string, Backend>();

  constructor(local: Backend, others: ReadonlyMap<string, MachineBackend>) {
    this.#local = local;
    this.#others = others;
  }

  machine(name: string): MachineBackend {
    const backend = this.#others.get(name);
    if (!backend) throw noSuchMachine(name);
    return backend;
  }

  add(
    { id, session }: { readonly id: string; readonly session?: string | undefined },
    backend: Backend,
  ): void {
    this.#jobs.set(id, backend);
    if (session !== undefined) this.#sessions.set(session, backend);
  }

  addTakenUp(id: string | undefined, session: string | undefined, backend: Backend): void {
    if (id !== undefined) this.#jobs.set(id, backend);
    if (session !== undefined) this.#sessions.set(session, backend);
  }

  remove(id: string): void {
    this.#jobs.delete(id);
  }

  machineOfSession(key: string): string | undefined {
    const backend = this.#sessions.get(key);
    return [...this.#others].find(([, other]) => other === backend)?.[0];
  }

  readonly of = (id: string): Backend => this.#jobs.get(id) ?? this.#local;

  readonly ofSession = (key: string): Backend => this.#sessions.get(key) ?? this.#local;

  /** The backends of this machine, and of the others that have answered. */
  readonly answering = (): readonly Backend[] => [
    this.#local,
    ...[...this.#others.values()].filter(hasAnswered),
  ];
}

function noSuchMachine(name: string): NacreError {
  return new NacreError('invalid_request', `There is no machine ${name}.`, {
    hint: 'Run nacre machines to list the machines in the settings.',
  });
}
