import { showCommand } from '../../contract/command.ts';
import type { JobSpec } from '../../contract/job.ts';

type Identity = Pick<JobSpec, 'command' | 'cwd' | 'session' | 'changes'>;

const maxKnown = 1_000;

/**
 * Commands that were ended because they changed a file that is too large for a layer. With `changes_large: direct`, the
 * same command changes files directly when the same owner runs it again.
 */
export class LargeCommands {
  readonly #known = new Set<string>();

  add(spec: Identity): void {
    const [oldest] = this.#known;
    if (this.#known.size >= maxKnown && oldest !== undefined) this.#known.delete(oldest);
    this.#known.add(toKey(spec));
  }

  has(spec: Identity): boolean {
    return this.#known.has(toKey(spec));
  }
}

function toKey({ command, cwd, session, changes }: Identity): string {
  return JSON.stringify([changes?.owner, session, cwd, showCommand(command)]);
}
