import { changesUnavailable } from './changes-failures.ts';
import { findAliases, findInnerMount, findStore, readMounts } from './find-store.ts';
import type { LayerPlan } from './layer.ts';

/** Finds the store for a layer over these folders; throws `isolation_unavailable` if they cannot have one. */
export function planLayer(
  folders: readonly string[],
  mainStore: string,
): Pick<LayerPlan, 'store' | 'folders'> {
  const mounts = readMounts();
  const [first = '/'] = folders;
  const found = findStore(first, mainStore, mounts);
  if ('reason' in found) throw changesUnavailable(found.reason);
  const outside = folders.find((folder) => {
    const other = findStore(folder, mainStore, mounts);
    return 'reason' in other || other.path !== found.path;
  });
  if (outside !== undefined)
    throw changesUnavailable(`${first} and ${outside} are on different file systems`);
  const inner = folders.map((folder) => findInnerMount(folder, mounts)).find((path) => path !== undefined);
  if (inner !== undefined)
    throw changesUnavailable(`${inner} is a mount inside of the workspace, which a layer cannot contain`);
  return {
    store: found.path,
    folders: folders.map((folder) => ({ folder, aliases: findAliases(folder, mounts) })),
  };
}
