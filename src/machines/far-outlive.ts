// Commands and persistent shells that outlive their server on other machines:
// 1. `record` writes them to this machine's disk before they start,
// 2. `takeUp` reattaches a later server of the same client to them, or lists them for the local user,
// 3. `forget` and `forgetShell` remove the record once the command is disposed of, or the shell is closed.
import { createHash } from 'node:crypto';
import type { KeptCommand, TakeUpRequest } from '../contract/backend.ts';
import type { JobSpec } from '../contract/job.ts';
import type { FarRecord, FarRecords } from './far-records.ts';
import type { MachineBackend } from './route-machines.ts';

/** A command of an earlier server, or a persistent shell if `session` is present, with the backend of its machine. */
export interface TakenUp {
  readonly backend: MachineBackend;
  readonly command?: KeptCommand | undefined;
  readonly session?: string | undefined;
}

/** Options of `FarOutlive`. */
export interface FarOutliveOptions {
  readonly records: FarRecords;
  /** `view` lists the commands of dead servers and leaves their records where they are. */
  readonly mode: 'use' | 'view';
}

// How long `takeUp` waits for other machines; the commands of a slower machine are `unreachable` until it answers.
const patienceMs = 2_500;

/** Records the commands and shells that outlive this server on other machines, and reattaches to those of earlier servers. */
export class FarOutlive {
  readonly #records: FarRecords;
  readonly #isView: boolean;

  constructor({ records, mode }: FarOutliveOptions) {
    this.#records = records;
    this.#isView = mode === 'view';
  }

  /** Records a command that is about to start, if it outlives this server, and its shell. */
  record({ id, command, cwd, stdin, terminal, session, keeping }: JobSpec, machine: string): void {
    if (!keeping) return;
    const notedAt = new Date().toISOString();
    const record = { id, machine, command, cwd, stdin, terminal, keeping, notedAt };
    if (keeping.outlives) this.#records.add(record);
    if (session !== undefined) this.#records.add({ ...record, id: toShellId(machine, session), session });
  }

  /** The spec to send: without `judgedBy`, and with an identity of this installation. */
  toFarSpec(spec: JobSpec): JobSpec {
    const { keeping } = spec;
    if (!keeping) return spec;
    const identity = this.#toFarIdentity(keeping.identity);
    return { ...spec, keeping: { ...keeping, identity, judgedBy: undefined } };
  }

  settle(id: string): void {
    this.#records.settle(id);
  }

  forget(id: string): void {
    this.#records.remove(id);
  }

  forgetShell(machine: string, session: string): void {
    this.#records.remove(toShellId(machine, session));
  }

  /** Reattaches to the commands and shells of earlier servers of a client; without `identity`, lists those of all dead servers. */
  async takeUp(
    request: TakeUpRequest,
    machines: ReadonlyMap<string, MachineBackend>,
  ): Promise<readonly TakenUp[]> {
    const { identity } = request;
    const left = identity === undefined ? this.#records.abandoned() : this.#records.claim(identity);
    const found = left.toSorted((one, other) => one.notedAt.localeCompare(other.notedAt));
    const taken = await Promise.all(
      [...machines].map(async ([name, backend]) => {
        const records = found.filter(({ machine }) => machine === name);
        return records.length > 0 && backend.keepsJobs ? this.#takeUpOn(backend, records, request) : [];
      }),
    );
    return taken.flat();
  }

  async #takeUpOn(
    backend: MachineBackend,
    records: readonly FarRecord[],
    { identity, room }: TakeUpRequest,
  ): Promise<readonly TakenUp[]> {
    const commands = records.filter(({ session }) => session === undefined);
    const deserted = records.map(({ id, session }) => session ?? id);
    const farIdentity = identity === undefined ? undefined : this.#toFarIdentity(identity);
    const request = { identity: farIdentity, room, deserted };
    const jobs = commands.map(({ id, notedAt }) => ({ id, startedAt: notedAt }));
    const taken = await backend.takeUpKnown(request, jobs, patienceMs);
    return [
      ...(this.#isView ? [] : records.flatMap((record) => this.#takeUpShell(backend, record, room))),
      ...commands.flatMap((record, index): readonly TakenUp[] => {
        const found = taken[index];
        return found ? [{ backend, command: toKept(record, found) }] : [];
      }),
    ];
  }

  // The key of a shell begins with its room. The worker renames the shell in the same way.
  #takeUpShell(backend: MachineBackend, record: FarRecord, room: string): readonly TakenUp[] {
    const { id, session, machine, keeping } = record;
    if (session === undefined) return [];
    const renamed = `${room}${session.slice(keeping.room.length)}`;
    this.#records.remove(id);
    this.#records.add({
      ...record,
      id: toShellId(machine, renamed),
      session: renamed,
      keeping: { ...keeping, room },
    });
    return [{ backend, session: renamed }];
  }

  #toFarIdentity(identity: string): string {
    return `${this.#records.installation()} ${identity}`;
  }
}

function toKept(
  { id, machine, command, cwd, stdin, terminal, keeping, isSettled = false }: FarRecord,
  found: Pick<KeptCommand, 'state' | 'typed' | 'hide'>,
): KeptCommand {
  return { id, machine, command, cwd, stdin, terminal, keeping, isSettled, ...found };
}

function toShellId(machine: string, session: string): string {
  const digest = createHash('sha256').update(`${machine} ${session}`).digest('hex');
  return `session_${digest.slice(0, 32)}`;
}
