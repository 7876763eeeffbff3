// The user's settings file, for the subcommands that edit it: read once, checked as a server would, replaced atomically.
import { rmSync } from 'node:fs';
import { type ConfigFile, openConfigFile } from '../clients/config-file.ts';
import type { PlaceAccess, SettingsAccess } from './door.ts';
import { showChanges } from './show-changes.ts';

/** Dependencies of `openUserSettings`. */
export type UserSettingsDeps = PlaceAccess & Pick<SettingsAccess, 'checkUserFile'>;

/** The user's settings file as it was read. */
export interface UserSettings {
  readonly path: string;
  readonly text: string;
  /** Replaces the text if nacre accepts the new one; returns the change with its description and a way to undo it. */
  replace(text: string): Promise<WrittenSettings>;
}

/** A change of the user's settings file. */
export interface WrittenSettings {
  /** The file and its changed lines, for the user; empty if nothing changed. */
  readonly lines: readonly string[];
  undo(): void;
}

/** Opens the user's settings file; a missing file counts as empty. */
export function openUserSettings({ places, checkUserFile }: UserSettingsDeps): UserSettings {
  const { settingsFile: path, backupDir } = places;
  const file = openConfigFile(path);
  return {
    path,
    text: file.text,
    async replace(text) {
      if (text === file.text) return { lines: [], undo: () => {} };
      await checkUserFile(text);
      const backup = file.replace(text, backupDir);
      const lines = [
        `${path} was ${backup === undefined ? 'created' : 'updated'}:`,
        ...showChanges(file.text, text),
      ];
      return { lines, undo: () => restore(file, backup, backupDir) };
    },
  };
}

function restore({ path, text }: ConfigFile, backup: string | undefined, backupDir: string): void {
  if (backup === undefined) rmSync(path, { force: true });
  else openConfigFile(path).replace(text, backupDir);
}
