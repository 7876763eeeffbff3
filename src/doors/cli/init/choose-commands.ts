import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { NacreError } from '../../../contract/failure.ts';
import { nearest } from '../../../settings/nearest.ts';
import type { SettingsAccess } from '../../door.ts';
import type { Ask } from './ask.ts';
import { isInFile } from './choose-sandbox.ts';
import { listsNothing, type Told } from './parse-entry.ts';

/** Chooses which programs may run, as variables of the entry. */
export async function chooseCommands(
  { settings, presets }: SettingsAccess,
  folder: string,
  flagged: Readonly<Record<string, string>>,
  before: Told,
  ask: Ask | undefined,
): Promise<Readonly<Record<string, string>>> {
  if (flagged.ALLOWED_COMMANDS !== undefined || flagged.NACRE_PRESET !== undefined) return {};
  const { ALLOWED_COMMANDS: list, NACRE_PRESET: preset } = before.env ?? {};
  const kept = {
    ...(list !== undefined && { ALLOWED_COMMANDS: list }),
    ...(preset && { NACRE_PRESET: preset }),
  };
  // An entry that lists nothing would let nothing run.
  const suggested = isInFile(settings, 'allowed_commands') ? {} : { NACRE_PRESET: suggestPreset(folder) };
  const proposed = Object.keys(kept).length === 0 ? suggested : kept;
  const listed = listsNothing(proposed) ? 'nothing' : Object.values(proposed).join(' and ');
  const words = listed || 'as your settings file says';
  if (ask === undefined) return proposed;
  const question = `Programs that may run, a comma list, * or one of ${presets.join(', ')} [${words}]: `;
  return ask.one(question, (answer) => {
    if (answer === '' || answer === words) return proposed;
    return presets.includes(answer)
      ? { NACRE_PRESET: answer }
      : { ALLOWED_COMMANDS: toList(answer, presets) };
  });
}

/** What a folder holds tells which programs its work needs. */
function suggestPreset(folder: string): string {
  const has = (...names: readonly string[]) => names.some((name) => existsSync(join(folder, name)));
  if (has('package.json')) return 'dev-node';
  if (has('pyproject.toml', 'requirements.txt', 'setup.py')) return 'dev-python';
  return has('.git') ? 'git' : 'read-only';
}

function toList(answer: string, presets: readonly string[]): string {
  refuseNearlyPreset(answer, presets);
  const names = answer.split(/[\s,]+/).filter((name) => name !== '');
  if (names.length > 0) return names.join(',');
  throw new NacreError('invalid_request', `${JSON.stringify(answer)} names no program.`, {
    hint: 'Name programs with commas between them, or * for all.',
  });
}

// Taken as a program, a slip of the pen would leave an agent with nothing that runs. The names of programs are short, too.
function refuseNearlyPreset(answer: string, presets: readonly string[]): void {
  const long = presets.filter((name) => name.length > 4);
  const meant = answer.includes(',') ? undefined : nearest(answer.replace(/[\s_]+/g, '-'), long);
  if (meant === undefined) return;
  throw new NacreError('invalid_request', `${answer} is no preset; ${meant} is one.`, {
    hint: 'Put a comma after the name of a program.',
  });
}
