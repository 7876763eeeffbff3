import type { Environment } from '../machine/environment.ts';
import { readOrEmpty } from '../processes/descendants.ts';
import {
  type ProcessInfo,
  type ProcessTable,
  type TreeRoot,
  withDescendants,
} from '../processes/process-table.ts';
import type { ForkServer } from '../supervision/fork-server.ts';

/**
 * Finds processes that a command at level `group` has started but that can no longer be identified by ancestry, group,
 * session or marker: they have cleared their environment, left their session, and lost their parent. The fork server
 * has adopted them. Their command is certain only if no other command runs that was started before them; otherwise they
 * are killed when the last of those commands ends.
 */
export class AdoptedOrphans {
  readonly #forkServer: ForkServer;
  readonly #table: ProcessTable;
  readonly #instance: readonly string[];
  readonly #living = new Set<TreeRoot>();

  /** `instance` is a part of the environment of all programs that the fork server starts. */
  constructor(forkServer: ForkServer, table: ProcessTable, instance: Environment) {
    this.#forkServer = forkServer;
    this.#table = table;
    this.#instance = Object.entries(instance).map((pair) => pair.join('='));
  }

  /** The gaps of the table, as far as they remain. */
  get gaps(): readonly string[] {
    const { name, gaps } = this.#table;
    return name === '/proc' && this.#forkServer.isAvailable ? [foundLast] : gaps;
  }

  /** Returns a table that lists the orphans of a command among its members; the command runs until `exited` settles. */
  tableFor(root: TreeRoot, exited: Promise<unknown>): ProcessTable {
    this.#living.add(root);
    const forget = () => this.#living.delete(root);
    exited.then(forget, forget);
    const members = async (asked: TreeRoot) => {
      const found = await this.#table.members(asked);
      const orphans = await this.#orphansOf(root, new Set(found.map(({ pid }) => pid)));
      return [...found, ...orphans];
    };
    return { ...this.#table, members };
  }

  async #orphansOf(root: TreeRoot, known: ReadonlySet<number>): Promise<readonly ProcessInfo[]> {
    const candidates = this.#forkServer
      .adopted()
      .filter((pid) => !known.has(pid) && this.#hasClearedEnvironment(pid));
    const found = await Promise.all(
      candidates.map((pid) => this.#table.descendants({ pid, startTime: null })),
    );
    const all = found.flat();
    const first = all.filter(({ pid, startTime }) => candidates.includes(pid) && this.#isOf(root, startTime));
    return withDescendants(all, new Set(first.map(({ pid }) => pid)));
  }

  #isOf(root: TreeRoot, startTime: string): boolean {
    const isSince = (one: TreeRoot) => Number(one.startTime ?? 0) <= Number(startTime);
    return isSince(root) && ![...this.#living].some((other) => other !== root && isSince(other));
  }

  // A process with the variable is found by its marker, or belongs to another command.
  #hasClearedEnvironment(pid: number): boolean {
    const variables = readOrEmpty(`/proc/${pid}/environ`).split('\0');
    return !this.#instance.some((pair) => variables.includes(pair));
  }
}

const foundLast =
  'While other commands run, a process that clears its environment and leaves its session cannot be found; it ends with the last of them.';
