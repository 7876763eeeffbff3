import type { ExecList } from '../../contract/isolation.ts';
import { chooseExecGuard, type ExecEnforcement, type ExecOptions } from './choose-exec-guard.ts';
import type { ExecPlanDeps } from './exec-plan.ts';

/** Follows the list of allowed programs: shells that are started after a change are held to the new one. */
export class ExecEnforcer {
  readonly #options: ExecOptions;
  readonly #deps: ExecPlanDeps;
  #list: ExecList | undefined;
  #current: ExecEnforcement | undefined;
  #revision = 0;
  #updating: Promise<void> = Promise.resolve();

  constructor(options: ExecOptions, deps: ExecPlanDeps) {
    this.#options = options;
    this.#deps = deps;
  }

  get current(): ExecEnforcement {
    return this.#current ?? { gaps: [] };
  }

  /** Changes with every list; a shell that was started under another one is out of date. */
  get revision(): number {
    return this.#revision;
  }

  /** Applies the latest list, if it has changed. */
  async follow(): Promise<void> {
    if (this.#isLatest()) return;
    this.#updating = this.#updating.catch(() => {}).then(() => this.#update());
    await this.#updating;
  }

  #isLatest(): boolean {
    return this.#current !== undefined && this.#options.execAllow() === this.#list;
  }

  async #update(): Promise<void> {
    if (this.#isLatest()) return;
    const list = this.#options.execAllow();
    this.#current = await chooseExecGuard(this.#options, list, this.#deps);
    this.#list = list;
    this.#revision += 1;
  }
}

/** Caches a value that depends on the list until the next one. */
export function untilNextList<T>(exec: Pick<ExecEnforcer, 'revision'>, compute: () => T): () => T {
  let cached: { readonly revision: number; readonly value: T } | undefined;
  return () => {
    if (cached?.revision !== exec.revision) cached = { revision: exec.revision, value: compute() };
    return cached.value;
  };
}
