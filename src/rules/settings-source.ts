import { listSettings } from '../settings/define.ts';
import { candidatesFromFlags, type ParsedFlags } from '../settings/parse-flags.ts';
import { candidatesFromEnvironment } from '../settings/read-environment.ts';
import type { SettingsFile } from '../settings/read-file.ts';
import { resolveCandidates } from '../settings/resolve-candidates.ts';
import { allSettings } from './all-settings.ts';
import { createResolver, type SettingsLocation, toFilePlaces } from './resolve-now.ts';
import { type Resolved, readRules } from './rules-for.ts';
import { hasOtherName, stampOfUserFile, tryUserFile } from './settings-files.ts';

/** Reads the settings of one process, as often as needed. */
export interface SettingsSource {
  read(): Promise<Resolved>;
  /** The defaults with the state folder that is set, for subcommands that must work even if other settings are invalid. */
  readStateFolder(): Promise<Resolved>;
  /** A text that changes whenever the user's `config.yaml` does. */
  stamp(): string;
  /** Whether the user's `config.yaml` has a second hard link, through which it could be written. */
  hasOtherName(): boolean;
}

/** Combines flags, environment variables, the project file and the user's file. */
export function createSettingsSource(flags: ParsedFlags, location: SettingsLocation): SettingsSource {
  const places = toFilePlaces(location);
  const resolveNow = createResolver(flags, location);
  // The settings in force are those of `files`; a later change of a file counts as a change at run time.
  let firstStamp = location.files?.stamp;
  return {
    read: async () => readRules(await resolveNow()),
    readStateFolder: async () => {
      const { candidatesFromFile } = await import('../settings/read-file.ts');
      const settings = listSettings({ stateDir: allSettings.stateDir });
      const more = [
        candidatesFromFlags(flags, settings),
        candidatesFromEnvironment(location.env, settings),
        candidatesFromFile(tryUserFile(places), 'user', settings),
      ].map(({ candidates }) => ({ candidates, problems: [] }));
      return resolveCandidates({ more }, allSettings);
    },
    stamp() {
      const stamp = firstStamp ?? stampOfUserFile(places);
      firstStamp = undefined;
      return stamp;
    },
    hasOtherName: () => hasOtherName(places),
  };
}

/** Checks a user's settings file before it is written; throws `settings_invalid` with every problem. */
export async function checkUserFile(user: SettingsFile): Promise<void> {
  const { resolveSettings } = await import('../settings/resolve-settings.ts');
  await readRules(resolveSettings({ user }, allSettings));
}
