import { statSync } from 'node:fs';
import { type Mount, maskFile, mountReadOnly, mountWritable } from './mount.ts';
import type { SandboxPlan } from './sandbox-plan.ts';

/** The mounts of a sandbox in order; calls `plan.sockets` and checks with `statSync` which hidden paths are files. */
export function toMounts(plan: SandboxPlan): readonly Mount[] {
  const { pinned = [] } = plan;
  const root = plan.isolation.sandbox === 'off' ? withoutSandbox(plan) : inSandbox(plan);
  return [...root, ...plan.extraMounts, ...pinned.map(mountReadOnly), { kind: 'proc', to: '/proc' }];
}

function withoutSandbox({ ownFiles }: SandboxPlan): readonly Mount[] {
  return [{ kind: 'bind', from: '/', to: '/', readOnly: false, devices: true }, ...ownFiles.map(hide)];
}

// First `/` read-only, then the hidden paths, then `writable`, which may be inside hidden folders.
function inSandbox(plan: SandboxPlan): readonly Mount[] {
  const { home, keyStores, ownFiles, writable } = plan;
  const hidden = plan.isolation.sandbox === 'strict' ? [...home, ...keyStores] : keyStores;
  const replaced = ['/dev', '/tmp', '/run'];
  return [
    mountReadOnly('/'),
    { kind: 'dev', to: '/dev' },
    // Other programs have their sockets in /tmp and /run; a read-only mount does not prevent connecting to them.
    { kind: 'tmpfs', to: '/tmp' },
    { kind: 'tmpfs', to: '/run' },
    { ...mountReadOnly('/run/systemd/resolve'), optional: true },
    ...hidden.map(hide),
    ...writable.map(mountWritable),
    // Again, because `writable` may contain key stores.
    ...inside(keyStores, writable).map(hide),
    ...ownFiles.filter((path) => !isCovered(path, [...hidden, ...replaced], writable)).map(hide),
    ...plan
      .sockets()
      .filter((path) => !isCovered(path, [...hidden, ...ownFiles], writable))
      .map(maskFile),
  ];
}

function hide(path: string): Mount {
  const isFile = statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
  return isFile ? maskFile(path) : { kind: 'tmpfs', to: path };
}

// A path in a hidden folder is hidden with it, unless a workspace makes that part visible again.
function isCovered(path: string, hidden: readonly string[], writable: readonly string[]): boolean {
  return inside([path], hidden).length > 0 && inside([path], writable).length === 0;
}

function inside(paths: readonly string[], folders: readonly string[]): readonly string[] {
  return paths.filter((path) => folders.some((folder) => path.startsWith(`${folder}/`)));
}
