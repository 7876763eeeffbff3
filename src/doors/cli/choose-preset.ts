import { NacreError, toNacreError } from '../../contract/failure.ts';
import { setValue } from '../../settings/edit-file.ts';
import { didYouMean } from '../../settings/nearest.ts';
import { type Ask, createAsk } from '../ask.ts';
import type { FlagAccess, IoAccess, ProcessAccess, SettingsAccess } from '../door.ts';
import { print } from '../print.ts';
import { openUserSettings, type UserSettingsDeps } from '../user-settings.ts';
import { suggestPreset } from './init/choose-commands.ts';

type PresetDeps = FlagAccess<{ readonly json: boolean }> &
  IoAccess &
  Pick<ProcessAccess, 'cwd'> &
  SettingsAccess &
  UserSettingsDeps;

/**
 * Asks at a terminal what agents may run, if no setting says so, and writes the answer to the user's settings file.
 * Returns whether it did. Without a terminal agents may run nothing (T5), and `toolWarnings` says so.
 */
export async function choosePreset(deps: PresetDeps): Promise<boolean> {
  if (deps.flags.json || !isUnset(deps)) return false;
  const ask = createAsk(deps.io);
  if (ask === undefined) return false;
  try {
    const { text, replace } = openUserSettings(deps);
    const { lines } = await replace(setValue(text, 'preset', await askForPreset(ask, deps)));
    await print(
      deps.io.stdout,
      [...lines, 'nacre serve asks this once; --preset overrides it.', '', ''].join('\n'),
    );
    return true;
  } catch (error) {
    const { code, message } = toNacreError(error);
    throw new NacreError(code, message, { hint: 'Nothing was started. --preset NAME answers in advance.' });
  } finally {
    ask.close();
  }
}

function isUnset({ settings, toolWarnings }: SettingsAccess): boolean {
  const chosen = settings.filter(({ key }) => ['allowed_commands', 'preset'].includes(key));
  return toolWarnings.length > 0 && chosen.every(({ value }) => value === undefined);
}

function askForPreset(ask: Ask, { presets, cwd }: PresetDeps): Promise<string> {
  const proposed = suggestPreset(cwd);
  const question = `Programs that agents may run: ${presets.join(', ')} [${proposed}]: `;
  return ask.one(question, (answer) => {
    const chosen = answer === '' ? proposed : answer;
    if (presets.includes(chosen)) return chosen;
    throw new NacreError('invalid_request', `${chosen} is not a preset.${didYouMean(chosen, presets)}`, {
      hint: 'Name one of the presets in the question.',
    });
  });
}
