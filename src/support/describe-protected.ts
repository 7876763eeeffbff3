import type { ProtectedUse } from '../contract/job.ts';

/** Sentences about paths that a sandbox protects, because programs outside of it run them. */
export function describeProtected(use: ProtectedUse | undefined, cwd = '/'): readonly string[] {
  const { refused = [], changed = [] } = use ?? {};
  const names = (paths: readonly string[]) => [...new Set(paths.map((path) => toName(path, cwd)))];
  return [
    ...(refused.length > 0 ? [describeRefused(names(refused))] : []),
    ...(changed.length > 0
      ? [
          `Created or changed while this command ran, where programs outside of the sandbox may run it: ${names(changed).join(', ')}. Tell the user to review it.`,
        ]
      : []),
  ];
}

function describeRefused(names: readonly string[]): string {
  const git = names.some((name) => name.endsWith('/config')) ? ' git -c NAME=VALUE works without it.' : '';
  return `Read-only in this sandbox, because programs outside of it run it or read their settings from it: ${names.join(', ')}.${git} The user can allow changes with the setting unprotected (NACRE_UNPROTECTED=${names.join(',')}). A restart of this server applies it.`;
}

// The path relative to the project, as the setting `unprotected` accepts it.
function toName(path: string, cwd: string): string {
  const git = path.lastIndexOf('/.git');
  if (git !== -1) return path.slice(git + 1);
  return path.startsWith(`${cwd}/`) ? path.slice(cwd.length + 1) : path.slice(path.lastIndexOf('/') + 1);
}
