import type { Standing } from '../assembly/create-whole-engine.ts';
import type { ParsedFlags } from '../settings/parse-flags.ts';
import type { SettingsFile } from '../settings/read-file.ts';
import { resolveOffers } from '../settings/resolve-offers.ts';
import { allSettings } from './all-settings.ts';
import { configHomeOf, homeOf } from './home-folders.ts';
import { hasOtherName, readSettingsFiles, stampOfUserFile } from './read-settings-files.ts';
import { type Resolved, readRules } from './rules-for.ts';

/** Where the settings of one process come from. */
export interface SettingsSource {
  read(): Promise<Resolved>;
  /** A text that changes whenever the user's file does. */
  stamp(): string;
  /** Whether the user's file has another name as well, by which it could be written. */
  hasOtherName(): boolean;
}

/** The flags and the environment of a process, and the files that it finds. */
export function createSettingsSource(
  flags: ParsedFlags,
  { env, cwd, config }: Pick<Standing, 'env' | 'cwd' | 'config'>,
): SettingsSource {
  const places = { cwd, home: homeOf(env), configHome: configHomeOf(env), named: config };
  // The marks of a command that nacre itself runs are no settings, nor slips of the pen.
  const { NACRE_COMMAND_ID: _id, NACRE_INSTANCE: _server, ...given } = env;
  let first: { readonly project: SettingsFile | undefined } | undefined;
  const resolve = async () => {
    const { project: found, user } = readSettingsFiles(places);
    // A command can write to the project's file, or remove it, so that a server takes it once.
    first ??= { project: found };
    const { project } = first;
    if (!project && !user) return resolveOffers({ flags, env: given }, allSettings);
    const { resolveSettings } = await import('../settings/resolve-settings.ts');
    return resolveSettings({ flags, env: given, project, user }, allSettings);
  };
  return {
    read: async () => readRules(await resolve()),
    stamp: () => stampOfUserFile(places),
    hasOtherName: () => hasOtherName(places),
  };
}
