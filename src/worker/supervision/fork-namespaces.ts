import type { Mount } from '../sandbox/mount.ts';
import { type SandboxPlan, toMounts } from '../sandbox/sandbox-plan.ts';
import type { Keeper } from './follow-keeper.ts';
import type { ForkNamespace } from './fork-server-script.ts';

// After this many failures one after the other, the kernel is assumed to allow namespaces to `bwrap` alone (AppArmor).
const maxFailures = 3;

/**
 * Decides which keepers get namespaces that the fork server creates itself. The first keeper is started by `bwrap`:
 * otherwise nacre would assume that sandboxes work where only the fork server's namespaces do.
 */
export class ForkNamespaces {
  #bubblewrapWorks = false;
  #failures = 0;

  /** The namespace for a plan; undefined if `bwrap` has to create it. */
  of(plan: SandboxPlan): ForkNamespace | undefined {
    return this.#bubblewrapWorks && this.#failures < maxFailures ? toForkNamespace(plan) : undefined;
  }

  /** Records that the fork server has started a keeper, with such a namespace or by `bwrap`. */
  noteStarted(keeper: Pick<Keeper, 'ready'>, namespace: ForkNamespace | undefined): void {
    if (namespace) this.#failures = 0;
    else if (!this.#bubblewrapWorks)
      void keeper.ready.then((isReady) => {
        this.#bubblewrapWorks ||= isReady;
      });
  }

  /** Records that a namespace could not be created. */
  noteFailed(): void {
    this.#failures += 1;
  }
}

// Without a sandbox a plan only covers nacre's own files, unless it has a layer or shows files that a guard needs.
function toForkNamespace(plan: SandboxPlan): ForkNamespace | undefined {
  const { isolation, layer, isRoot } = plan;
  if (isolation.sandbox !== 'off' || layer) return undefined;
  const [, ...mounts] = toMounts(plan);
  const covers = mounts.filter(({ kind }) => kind !== 'proc').map(toHidden);
  const hidden = covers.filter((path) => path !== undefined);
  if (hidden.length < covers.length) return undefined;
  return { user: isRoot ? '' : `${process.getuid?.()} ${process.getgid?.()}`, hidden };
}

function toHidden(mount: Mount): string | undefined {
  if (mount.kind === 'tmpfs' && !mount.writable) return `d${mount.to}`;
  return mount.kind === 'bind' && mount.from === '/dev/null' && mount.readOnly ? `f${mount.to}` : undefined;
}
