import type { Place } from '../contract/facts.ts';
import { NacreError } from '../contract/failure.ts';
import { keyFolders } from '../support/key-stores.ts';
import { isWithin } from './decide-cwd.ts';

const systemDirectories = ['/proc', '/sys', '/dev', '/boot', '/etc'];

/** The directories in which no page or app has any business: the system's own, and the user's keys. */
export function sensitiveDirectories(home: string): readonly string[] {
  return [...systemDirectories, ...keyFolders.map((name) => `${home}/${name}`)];
}

/** Refuses a canonical directory that is one of these places or lies in one. */
export function decideSensitive(cwd: string, places: readonly Place[]): void {
  // One that was not there when it was looked for may have been made since.
  const found = places.find(({ asked, path = asked }) => isWithin(cwd, path) || isWithin(cwd, asked));
  if (!found) return;
  throw new NacreError(
    'cwd_not_allowed',
    `cwd ${JSON.stringify(cwd)} is not allowed: ${words(found, cwd)}.`,
    {
      hint: 'Choose a directory of a project.',
    },
  );
}

function words({ asked, path }: Place, cwd: string): string {
  return path === cwd || asked === cwd
    ? 'it is a sensitive directory'
    : `it lies in the sensitive directory ${asked}`;
}
