import { toLayerWords } from '../changes/mount-layers.ts';
import type { Guard } from '../guard/create-guard.ts';
import type { Mount } from '../sandbox/mount.ts';
import { mountCapabilities } from '../sandbox/mount-capabilities.ts';
import { type SandboxPlan, toMounts } from '../sandbox/sandbox-plan.ts';
import type { Keeper } from './follow-keeper.ts';
import type { ForkNamespace } from './fork-server-script.ts';

// After this many failures one after the other, the kernel is assumed to allow namespaces to `bwrap` alone (AppArmor).
const maxFailures = 3;
// Processes or memory may only have been short, so one more namespace is tried after this time.
const retryMs = 60_000;

/**
 * Decides which keepers get namespaces that the fork server creates itself. The first keeper is started by `bwrap`:
 * otherwise nacre would assume that sandboxes work where only the fork server's namespaces do.
 */
export class ForkNamespaces {
  #bubblewrapWorks = false;
  // A kernel may allow namespaces, but no overlay in them.
  readonly #failures = { plain: { count: 0, at: 0 }, layered: { count: 0, at: 0 } };
  readonly #now: () => number;

  constructor(now = () => performance.now()) {
    this.#now = now;
  }

  /** The namespace for a plan; undefined if `bwrap` has to create it, or if the shell needs `Guard.wrap`. */
  of(plan: SandboxPlan, guard: Guard | undefined): ForkNamespace | undefined {
    const { count, at } = this.#failures[plan.layer ? 'layered' : 'plain'];
    const hasFailed = count >= maxFailures && this.#now() - at < retryMs;
    if (!this.#bubblewrapWorks || hasFailed) return undefined;
    if (guard && !guard.forkWords) return undefined;
    return toForkNamespace(plan, guard?.forkWords);
  }

  /** Records that the fork server has started a keeper, in a namespace of its own or through `bwrap`. */
  noteStarted(keeper: Pick<Keeper, 'ready'>, namespace: ForkNamespace | undefined): void {
    if (namespace) this.#failures[kindOf(namespace)].count = 0;
    else if (!this.#bubblewrapWorks)
      void keeper.ready.then((isReady) => {
        this.#bubblewrapWorks ||= isReady;
      });
  }

  /** Records that a namespace could not be created. */
  noteFailed(namespace: ForkNamespace): void {
    const failures = this.#failures[kindOf(namespace)];
    failures.count += 1;
    failures.at = this.#now();
  }
}

function kindOf({ layers }: ForkNamespace): 'plain' | 'layered' {
  return layers.length > 0 ? 'layered' : 'plain';
}

// Without a sandbox, a plan usually has layers, mounts that cover nacre's own files, and read-only mounts over programs of the list. The
// fork server can make all of these. For any other mount this returns undefined.
function toForkNamespace(plan: SandboxPlan, guard: ForkNamespace['guard']): ForkNamespace | undefined {
  const { isolation, layer, isRoot } = plan;
  if (isolation.sandbox !== 'off') return undefined;
  const [, ...mounts] = toMounts(plan);
  const words = mounts.filter(({ kind }) => kind !== 'proc').map(toWord);
  const known = words.filter((word) => word !== undefined);
  if (known.length < words.length) return undefined;
  return {
    user: isRoot ? '' : `${process.getuid?.()} ${process.getgid?.()}`,
    layers: layer ? toLayerWords(layer.folders) : [],
    droppedCapabilities: layer && isRoot ? Object.values(mountCapabilities) : [],
    mounts: known,
    guard,
  };
}

// A mount as one of `ForkNamespace.mounts`.
function toWord(mount: Mount): string | undefined {
  if (mount.kind === 'tmpfs' && !mount.writable) return `d${mount.to}`;
  if (mount.kind !== 'bind' || !mount.readOnly || mount.devices || mount.optional) return undefined;
  if (mount.from === '/dev/null') return `f${mount.to}`;
  return mount.from === mount.to ? `r${mount.to}` : undefined;
}
