// Calls about kept changes go to the machine of the command that made them, also in a later server (far-changes.ts).
import type { Backend, BackendChanges } from '../contract/backend.ts';
import type { ChangesAction, ChangesEntry, ChangesResult, CommandChanges } from '../contract/changes.ts';
import { showCommand } from '../contract/command.ts';
import type { JobSpec, JobState } from '../contract/job.ts';
import type { ChangesRecord, FarChanges } from './far-changes.ts';
import { hasAnswered } from './has-answered.ts';
import type { MachineBackend } from './route-machines.ts';

/** The calls about changes whose machine has to be found. */
export type ChangesMethod = Exclude<keyof BackendChanges, 'changesFault'>;

/** Finds the machine of kept changes, and writes their records. */
export class RouteChanges {
  readonly #local: Backend;
  readonly #others: ReadonlyMap<string, MachineBackend>;
  readonly #records: FarChanges;
  // Specs of commands whose changes have no record yet.
  readonly #specs = new Map<string, JobSpec & { readonly machine: string }>();

  constructor(local: Backend, others: ReadonlyMap<string, MachineBackend>, records: FarChanges) {
    this.#local = local;
    this.#others = others;
    this.#records = records;
  }

  /** Remembers a command that may leave changes on a machine which outlasts its connection. */
  expect(spec: JobSpec, machine: string): void {
    if (this.#others.get(machine)?.keepsJobs) this.#specs.set(spec.id, { ...spec, machine });
  }

  forget(id: string): void {
    this.#specs.delete(id);
  }

  /** Writes the record of a command that has ended and left changes. */
  record(state: JobState): void {
    const spec = this.#specs.get(state.id);
    if (!spec || !state.end) return;
    this.#specs.delete(state.id);
    if (state.end.changes) this.#records.add(toRecord(spec, state, state.end.changes));
  }

  methods(): Pick<Backend, ChangesMethod> {
    const of = (id: string) => this.#of(id);
    const updated = async (result: Promise<ChangesResult>) => {
      const found = await result;
      if (of(found.id) !== this.#local) this.#records.update(found);
      return found;
    };
    return {
      listChanges: (owner) => this.#list(owner),
      scanChanges: async (action: ChangesAction, limit) => of(action.id).scanChanges(action, limit),
      showChanges: async (action, limits) => of(action.id).showChanges(action, limits),
      applyChanges: async (action) => updated(of(action.id).applyChanges(action)),
      discardChanges: async (action) => updated(of(action.id).discardChanges(action)),
      undoChanges: async (action) => updated(of(action.id).undoChanges(action)),
    };
  }

  #of(id: string): Backend {
    const machine = this.#specs.get(id)?.machine ?? this.#records.find(id)?.machine;
    return (machine === undefined ? undefined : this.#others.get(machine)) ?? this.#local;
  }

  async #list(owner: string | undefined): Promise<readonly ChangesEntry[]> {
    const records = this.#records.list().filter((one) => owner === undefined || one.owner === owner);
    const far = [...this.#others].map(([name, backend]) =>
      this.#listOn(
        backend,
        owner,
        records.filter(({ machine }) => machine === name),
      ),
    );
    return (await Promise.all([this.#local.listChanges(owner), ...far])).flat();
  }

  // The records are enough for a machine without a connection. Entries without a record are ignored: a hostile machine could list
  // ids of commands that ran elsewhere.
  async #listOn(
    backend: MachineBackend,
    owner: string | undefined,
    records: readonly ChangesRecord[],
  ): Promise<readonly ChangesEntry[]> {
    const known = records.map(({ machine: _machine, ...entry }) => entry);
    if (records.length === 0 || !hasAnswered(backend)) return known;
    const entries = await backend.listChanges(owner).catch(() => undefined);
    if (!entries) return known;
    const isListed = (id: string) => entries.some((entry) => entry.id === id);
    for (const { id } of known) if (!isListed(id)) this.#records.remove(id);
    return entries.filter(({ id }) => known.some((entry) => entry.id === id));
  }
}

function toRecord(
  { id, command, changes: asked, machine }: JobSpec & { readonly machine: string },
  { startedAt, durationMs }: JobState,
  { state, bytes, created, changed, deleted, mode }: CommandChanges,
): ChangesRecord {
  const endedAt = new Date(Date.parse(startedAt) + durationMs).toISOString();
  const counts = { created, changed, deleted, mode };
  const { owner, asksUser } = asked ?? {};
  const rest = { folders: [], endedAt, owner, onTopOf: [], bytes, counts, asksUser };
  return { id, machine, state, command: showCommand(command), ...rest };
}
