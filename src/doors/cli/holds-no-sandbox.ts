import { canonicalOrGiven } from '../../support/canonical-or-given.ts';
import { holdsSettings } from '../../support/holds-settings.ts';
import { isTooWide } from '../../support/is-too-wide.ts';

/** Whether a sandbox of this level would refuse every command in a folder, since it is no workspace. */
export function holdsNoSandbox(folder: string, level: string | undefined, home: string): boolean {
  if (level === undefined || level === 'off') return false;
  const place = canonicalOrGiven(folder);
  return [home, canonicalOrGiven(home)].some((one) => isTooWide(place, one) || holdsSettings(place, one));
}
