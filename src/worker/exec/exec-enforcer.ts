import type { ExecList } from '../../contract/isolation.ts';
import { chooseExecGuard, type ExecEnforcement, type ExecOptions } from './choose-exec-guard.ts';
import type { ExecPlanDeps } from './exec-plan.ts';

// Callers share few lists, but every change of the settings makes another one.
const maxKnown = 16;

/**
 * Returns what the kernel enforces on a command, by the list of its caller. Equal lists share one `ExecEnforcement`.
 */
export class ExecEnforcer {
  readonly #options: ExecOptions;
  readonly #deps: ExecPlanDeps;
  readonly #keys = new WeakMap<ExecList, string>();
  /** By the text of the list, in the order of their last use. */
  readonly #known = new Map<string, Promise<ExecEnforcement>>();

  constructor(options: ExecOptions, deps: ExecPlanDeps) {
    this.#options = options;
    this.#deps = deps;
  }

  /** The enforcement of a list; `any` if every program is allowed, the usual list if there is none. */
  for(list: ExecList | 'any' | undefined): Promise<ExecEnforcement> {
    const wanted = list === undefined ? this.#options.execAllow() : list === 'any' ? undefined : list;
    const key = wanted === undefined ? 'any' : this.#keyOf(wanted);
    const enforcement = this.#known.get(key) ?? this.#choose(key, wanted);
    this.#known.delete(key);
    this.#known.set(key, enforcement);
    this.#forgetOldest();
    return enforcement;
  }

  // A failure is not cached, so the next command tries again.
  #choose(key: string, list: ExecList | undefined): Promise<ExecEnforcement> {
    const chosen = chooseExecGuard(this.#options, list, this.#deps);
    chosen.catch(() => {
      if (this.#known.get(key) === chosen) this.#known.delete(key);
    });
    return chosen;
  }

  #keyOf(list: ExecList): string {
    const key = this.#keys.get(list) ?? JSON.stringify(list);
    this.#keys.set(list, key);
    return key;
  }

  #forgetOldest(): void {
    for (const key of [...this.#known.keys()].slice(0, -maxKnown)) this.#known.delete(key);
  }
}

/** Caches a value for each `ExecEnforcement`. */
export function byEnforcement<T>(compute: (exec: ExecEnforcement) => T): (exec: ExecEnforcement) => T {
  const known = new WeakMap<ExecEnforcement, { readonly value: T }>();
  return (exec) => {
    const found = known.get(exec) ?? { value: compute(exec) };
    known.set(exec, found);
    return found.value;
  };
}
