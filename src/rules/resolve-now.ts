import type { ParsedFlags } from '../settings/parse-flags.ts';
import type { SettingsFile } from '../settings/read-file.ts';
import { type ResolvedSettings, resolveCandidates } from '../settings/resolve-candidates.ts';
import { allSettings } from './all-settings.ts';
import { configHomeOf, homeOf } from './home-folders.ts';
import { type FilePlaces, type ReadFiles, readSettingsFiles } from './settings-files.ts';

/** The sources of settings besides flags: `env`, and the files found from `cwd` and `config`. */
export interface SettingsLocation {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** The file that `--config` names, used instead of the user's settings file. */
  readonly config?: string | undefined;
  /** The files as they were read before, for the first time that settings are resolved. */
  readonly files?: ReadFiles | undefined;
}

/** The folders of the settings files of a process. */
export function toFilePlaces({ env, cwd, config }: SettingsLocation): FilePlaces {
  return { cwd, home: homeOf(env), configHome: configHomeOf(env), named: config };
}

/** Returns a function that resolves the settings from their sources, without the rules of the setting `policy`. */
export function createResolver(
  flags: ParsedFlags,
  location: SettingsLocation,
): () => Promise<ResolvedSettings<typeof allSettings>> {
  const places = toFilePlaces(location);
  // nacre sets these two for the commands it runs. They are not settings, and must not cause a warning in a nested nacre.
  const { NACRE_COMMAND_ID: _id, NACRE_INSTANCE: _server, ...env } = location.env;
  let first: { readonly project: SettingsFile | undefined } | undefined;
  let { files } = location;
  return async () => {
    const { project: found, user } = files ?? readSettingsFiles(places);
    files = undefined;
    // Commands can write or remove the project's `nacre.yaml`, so a server reads it only once.
    first ??= { project: found };
    const { project } = first;
    if (!project && !user) return resolveCandidates({ flags, env }, allSettings);
    const { resolveSettings } = await import('../settings/resolve-settings.ts');
    return resolveSettings({ flags, env, project, user }, allSettings);
  };
}
