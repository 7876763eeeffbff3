import type { Place } from '../contract/facts.ts';
import { NacreError } from '../contract/failure.ts';
import { credentialFolders } from '../support/credential-paths.ts';
import { isWithin } from './decide-place.ts';

const systemDirectories = ['/proc', '/sys', '/dev', '/boot', '/etc'];

/** Directories that web pages and apps may not run commands in: /etc, /proc and the like, and key folders such as ~/.ssh. */
export function sensitiveDirectories(homes: readonly string[]): readonly string[] {
  return [
    ...systemDirectories,
    ...homes.flatMap((home) => credentialFolders.map((name) => `${home}/${name}`)),
  ];
}

/** Throws if the canonical directory `cwd` is one of these places or inside one. */
export function decideSensitive(cwd: string, places: readonly Place[]): void {
  // A place without `path` did not exist when it was resolved but may have been created since, so compare `asked` too.
  const found = places.find(({ asked, path = asked }) => isWithin(cwd, path) || isWithin(cwd, asked));
  if (!found) return;
  throw new NacreError(
    'cwd_not_allowed',
    `cwd ${JSON.stringify(cwd)} is not allowed: ${explain(found, cwd)}.`,
    {
      hint: 'Choose a project directory.',
    },
  );
}

function explain({ asked, path }: Place, cwd: string): string {
  return path === cwd || asked === cwd
    ? 'it is a sensitive directory'
    : `it is inside the sensitive directory ${asked}`;
}
