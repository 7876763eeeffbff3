import { type Declarations, listSettings } from './define.ts';
import { candidatesFromFile, type SettingsFile } from './read-file.ts';
import { type CandidateSources, type ResolvedSettings, resolveCandidates } from './resolve-candidates.ts';

/** All sources of settings, with files as text. */
export interface SettingSources extends Pick<CandidateSources, 'flags' | 'env'> {
  /** The project's `nacre.yaml`, which can only tighten. */
  readonly project?: SettingsFile | undefined;
  /** The user's own file, or the one that `--config` names instead. */
  readonly user?: SettingsFile | undefined;
}

/** Like `resolveCandidates`, but reads settings files; separate, so that the YAML parser is loaded only for a file. */
export function resolveSettings<D extends Declarations>(
  { flags, env, project, user }: SettingSources,
  declarations: D,
): ResolvedSettings<D> {
  const settings = listSettings(declarations);
  const more = [candidatesFromFile(project, 'project', settings), candidatesFromFile(user, 'user', settings)];
  return resolveCandidates({ flags, env, more }, declarations);
}
