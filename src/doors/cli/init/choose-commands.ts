// Chooses which programs may run. `--preset` and `--allow` decide; otherwise it keeps the list of the entry or of the
// settings file, or proposes the preset for the kind of project, and asks at a terminal.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { presetFor, projectMarks } from '../../../clients/project-defaults.ts';
import { NacreError } from '../../../contract/failure.ts';
import { nearest } from '../../../settings/nearest.ts';
import type { Ask } from '../../ask.ts';
import {
  type Choice,
  type FileValues,
  fileVariables,
  fromFile,
  splitNames,
  type Variables,
} from './choice.ts';
import { listsNothing, type ParsedEntry } from './parse-entry.ts';

/** The names of all presets, and the values of the user's settings file. */
export interface CommandDeps {
  readonly presets: readonly string[];
  readonly file: FileValues;
}

/** Chooses which programs may run, as ALLOWED_COMMANDS and NACRE_PRESET. */
export async function chooseCommands(
  { presets, file }: CommandDeps,
  folder: string,
  fromFlags: Variables,
  before: ParsedEntry,
  ask: Ask | undefined,
): Promise<Choice> {
  const { ALLOWED_COMMANDS: list, NACRE_PRESET: preset } = before.env ?? {};
  const kept = toVariables(preset || undefined, list);
  const { NACRE_PRESET: ownPreset, ALLOWED_COMMANDS: ownList } = fileVariables(file);
  const own = toVariables(ownPreset, ownList);
  const usual = choose(kept, own, folder);
  if (fromFlags.NACRE_PRESET !== undefined || fromFlags.ALLOWED_COMMANDS !== undefined)
    return {
      variables: addFlags(fromFlags, usual.from === 'file' ? own : usual.variables, own),
      from: 'stated',
    };
  const listed = listsNothing(usual.variables) ? 'nothing' : Object.values(usual.variables).join(' and ');
  const shown = listed || 'from your settings file';
  if (ask === undefined) return usual;
  const question = `Programs that may run: a comma-separated list, * for all, or one of ${presets.join(', ')} [${shown}]: `;
  return ask.one(question, (answer) => {
    if (answer === '' || answer === shown) return usual;
    const variables = presets.includes(answer)
      ? toVariables(answer, own.ALLOWED_COMMANDS)
      : toVariables(undefined, toNames(answer, presets));
    return { variables, from: 'stated' };
  });
}

function choose(kept: Variables, own: Variables, folder: string): Choice {
  if (Object.keys(kept).length > 0) return { variables: kept, from: 'kept' };
  if (Object.keys(own).length > 0) return fromFile;
  // Without a list in the entry or in the settings file, the terminal tools would refuse every command (T5).
  return { variables: toVariables(suggestPreset(folder), undefined), from: 'proposed' };
}

/** `--allow` adds to the preset; `--preset none` leaves only the list, and `*` needs no preset. */
function addFlags(flags: Variables, usual: Variables, own: Variables): Variables {
  const names = splitNames(flags.ALLOWED_COMMANDS ?? '');
  if (names.includes('*')) return toVariables(undefined, '*');
  const { NACRE_PRESET: preset = usual.NACRE_PRESET } = flags;
  if (preset === 'none') return toVariables(undefined, names.join(','));
  const before = flags.NACRE_PRESET === undefined ? usual : own;
  const all = [...new Set([...splitNames(before.ALLOWED_COMMANDS ?? ''), ...names])];
  return toVariables(preset, all.length === 0 ? undefined : all.join(','));
}

function toVariables(preset: string | undefined, list: string | undefined): Variables {
  return {
    ...(list !== undefined && { ALLOWED_COMMANDS: list }),
    ...(preset !== undefined && { NACRE_PRESET: preset }),
  };
}

/** Suggests the preset for the files in a folder. */
export function suggestPreset(folder: string): string {
  return presetFor(projectMarks.filter((name) => existsSync(join(folder, name))));
}

function toNames(answer: string, presets: readonly string[]): string {
  refuseMisspelledPreset(answer, presets);
  const names = splitNames(answer);
  if (names.length > 0) return names.join(',');
  throw new NacreError('invalid_request', `${JSON.stringify(answer)} names no program.`, {
    hint: 'Name programs separated by commas, or * for all.',
  });
}

// As a program name, a misspelled preset would leave the agent with nothing to run. Short presets such as `git` are not
// compared, because many program names are similar to them.
function refuseMisspelledPreset(answer: string, presets: readonly string[]): void {
  const long = presets.filter((name) => name.length > 4);
  const spelled = answer.replace(/[\s_]+/g, '-');
  const near = long.includes(spelled) ? spelled : nearest(spelled, long);
  const meant = answer.includes(',') ? undefined : near;
  if (meant === undefined) return;
  throw new NacreError('invalid_request', `${answer} is not a preset. Did you mean ${meant}?`, {
    hint: 'Add a comma after the name if it is a program.',
  });
}
