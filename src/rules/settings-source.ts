import type { ParsedFlags } from '../settings/parse-flags.ts';
import type { SettingsFile } from '../settings/read-file.ts';
import { resolveCandidates } from '../settings/resolve-candidates.ts';
import { allSettings } from './all-settings.ts';
import { configHomeOf, homeOf } from './home-folders.ts';
import { hasOtherName, readSettingsFiles, stampOfUserFile } from './read-settings-files.ts';
import { type Resolved, readRules } from './rules-for.ts';

/** The sources of settings besides flags: `env`, and the files found from `cwd` and `config`. */
export interface SettingsLocation {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** The file that `--config` names, used instead of the user's settings file. */
  readonly config?: string | undefined;
}

/** Reads the settings of one process, as often as needed. */
export interface SettingsSource {
  read(): Promise<Resolved>;
  /** A text that changes whenever the user's `config.yaml` does. */
  stamp(): string;
  /** Whether the user's `config.yaml` has a second hard link, through which it could be written. */
  hasOtherName(): boolean;
}

/** Combines flags, environment variables, the project file and the user's file. */
export function createSettingsSource(flags: ParsedFlags, location: SettingsLocation): SettingsSource {
  const { env, cwd, config } = location;
  const places = { cwd, home: homeOf(env), configHome: configHomeOf(env), named: config };
  // nacre sets these two for the commands it runs. They are not settings, and must not cause a warning in a nested nacre.
  const { NACRE_COMMAND_ID: _id, NACRE_INSTANCE: _server, ...given } = env;
  let first: { readonly project: SettingsFile | undefined } | undefined;
  const resolve = async () => {
    const { project: found, user } = readSettingsFiles(places);
    // Commands can write or remove the project's `nacre.yaml`, so a server reads it only once.
    first ??= { project: found };
    const { project } = first;
    if (!project && !user) return resolveCandidates({ flags, env: given }, allSettings);
    const { resolveSettings } = await import('../settings/resolve-settings.ts');
    return resolveSettings({ flags, env: given, project, user }, allSettings);
  };
  return {
    read: async () => readRules(await resolve()),
    stamp: () => stampOfUserFile(places),
    hasOtherName: () => hasOtherName(places),
  };
}
