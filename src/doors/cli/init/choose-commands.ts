import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { presetFor, projectMarks } from '../../../clients/project-defaults.ts';
import { NacreError } from '../../../contract/failure.ts';
import { nearest } from '../../../settings/nearest.ts';
import type { SettingsAccess } from '../../door.ts';
import type { Ask } from './ask.ts';
import { isInUserFile } from './choose-sandbox.ts';
import { listsNothing, type ParsedEntry } from './parse-entry.ts';

/** Chooses which programs may run, as ALLOWED_COMMANDS or NACRE_PRESET for the entry. */
export async function chooseCommands(
  { settings, presets }: SettingsAccess,
  folder: string,
  fromFlags: Readonly<Record<string, string>>,
  before: ParsedEntry,
  ask: Ask | undefined,
): Promise<Readonly<Record<string, string>>> {
  if (fromFlags.ALLOWED_COMMANDS !== undefined || fromFlags.NACRE_PRESET !== undefined) return {};
  const { ALLOWED_COMMANDS: list, NACRE_PRESET: preset } = before.env ?? {};
  const kept = {
    ...(list !== undefined && { ALLOWED_COMMANDS: list }),
    ...(preset && { NACRE_PRESET: preset }),
  };
  // Without a list in the entry or in `config.yaml`, the terminal tools would refuse every command (T5).
  const suggested = isInUserFile(settings, 'allowed_commands') ? {} : { NACRE_PRESET: suggestPreset(folder) };
  const proposed = Object.keys(kept).length === 0 ? suggested : kept;
  const listed = listsNothing(proposed) ? 'nothing' : Object.values(proposed).join(' and ');
  const shown = listed || 'from your settings file';
  if (ask === undefined) return proposed;
  const question = `Programs that may run: a comma-separated list, * for all, or one of ${presets.join(', ')} [${shown}]: `;
  return ask.one(question, (answer) => {
    if (answer === '' || answer === shown) return proposed;
    return presets.includes(answer)
      ? { NACRE_PRESET: answer }
      : { ALLOWED_COMMANDS: toList(answer, presets) };
  });
}

/** Suggests the preset for the files in a folder. */
function suggestPreset(folder: string): string {
  return presetFor(projectMarks.filter((name) => existsSync(join(folder, name))));
}

function toList(answer: string, presets: readonly string[]): string {
  refuseMisspelledPreset(answer, presets);
  const names = answer.split(/[\s,]+/).filter((name) => name !== '');
  if (names.length > 0) return names.join(',');
  throw new NacreError('invalid_request', `${JSON.stringify(answer)} names no program.`, {
    hint: 'Name programs separated by commas, or * for all.',
  });
}

// As a program name, a misspelled preset would leave the agent with nothing to run. Short presets such as `git` are not
// compared, because many program names are similar to them.
function refuseMisspelledPreset(answer: string, presets: readonly string[]): void {
  const long = presets.filter((name) => name.length > 4);
  const meant = answer.includes(',') ? undefined : nearest(answer.replace(/[\s_]+/g, '-'), long);
  if (meant === undefined) return;
  throw new NacreError('invalid_request', `${answer} is not a preset. Did you mean ${meant}?`, {
    hint: 'Add a comma after the name if it is a program.',
  });
}
