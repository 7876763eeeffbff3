import { type Declarations, listSettings } from './define.ts';
import { offersFromFile, type SettingsFile } from './read-file.ts';
import { type OfferSources, type ResolvedSettings, resolveOffers } from './resolve-offers.ts';

/** Everything settings can come from, as data. */
export interface SettingSources extends Pick<OfferSources, 'flags' | 'env'> {
  /** The project's `nacre.yaml`, which can only tighten. */
  readonly project?: SettingsFile | undefined;
  /** The user's own file, or the one that a flag names in its place. */
  readonly user?: SettingsFile | undefined;
}

/** Resolves every declared setting, files included; apart from `resolveOffers` so that YAML is loaded only for a file. */
export function resolveSettings<D extends Declarations>(
  { flags, env, project, user }: SettingSources,
  declarations: D,
): ResolvedSettings<D> {
  const settings = listSettings(declarations);
  const more = [offersFromFile(project, 'project', settings), offersFromFile(user, 'user', settings)];
  return resolveOffers({ flags, env, more }, declarations);
}
