import type { AuditEntry } from './entry.ts';
import type { Redact } from './redact.ts';

/** Returns a redactor for secrets of the environment of a machine, as far as they are known. */
export type RedactFor = (machine: string) => Redact | undefined;

/**
 * Chooses the redactor for each command: a command on another machine is also redacted by the secrets of that machine.
 * Secrets of a machine do not affect other records, because a hostile machine can claim any text as a secret.
 */
export class MachineRedactors {
  readonly #redact: Redact;
  readonly #redactFor: RedactFor;
  readonly #machines = new Map<string, string>();

  constructor(redact: Redact, redactFor: RedactFor) {
    this.#redact = redact;
    this.#redactFor = redactFor;
  }

  /** Remembers the machine of the command that an entry is about. */
  note(entry: AuditEntry): void {
    const machine = machineIn(entry);
    if (machine !== undefined) this.#machines.set(entry.id, machine);
  }

  of(id: string): Redact {
    const machine = this.#machines.get(id);
    const far = machine === undefined ? undefined : this.#redactFor(machine);
    return far ? (text) => this.#redact(far(text)) : this.#redact;
  }

  /** Forgets the command if the entry is its last one. */
  forget({ kind, id }: AuditEntry): void {
    if (lastKinds.has(kind)) this.#machines.delete(id);
  }
}

const lastKinds: ReadonlySet<AuditEntry['kind']> = new Set(['finished', 'failed', 'skipped']);

function machineIn(entry: AuditEntry): string | undefined {
  if (!('machine' in entry)) return undefined;
  return typeof entry.machine === 'string' ? entry.machine : entry.machine?.name;
}
