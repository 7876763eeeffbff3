import { NacreError } from '../../../contract/failure.ts';
import type { SettingInForce } from '../../../settings/setting-in-force.ts';
import { canonicalOrGiven } from '../../../support/canonical-or-given.ts';
import { holdsSettings } from '../../../support/holds-settings.ts';
import { isTooWide } from '../../../support/is-too-wide.ts';
import type { EngineAccess, ProcessAccess, SettingsAccess } from '../../door.ts';
import type { Ask } from './ask.ts';
import type { Told } from './parse-entry.ts';

type SandboxDeps = EngineAccess & ProcessAccess & SettingsAccess;

/** Chooses the sandbox, as a variable of the entry, with what whoever chose should know. */
export async function chooseSandbox(
  deps: SandboxDeps,
  project: string | undefined,
  flagged: Readonly<Record<string, string>>,
  before: Told,
  ask: Ask | undefined,
): Promise<{ variables: Readonly<Record<string, string>>; notes: readonly string[] }> {
  const checked = (level: string | undefined) => {
    const isNamed = flagged.NACRE_WORKSPACE !== undefined || namesWorkspace(deps.settings, before);
    if (project !== undefined && !isNamed && holdsNoSandbox(project, level, deps.machine.home))
      throw tooWide(project, level);
    return level;
  };
  if (flagged.NACRE_SANDBOX !== undefined) {
    checked(flagged.NACRE_SANDBOX);
    return { variables: {}, notes: [] };
  }
  const level = before.env?.NACRE_SANDBOX;
  const isKept = before.env !== undefined || isInFile(deps.settings, 'sandbox');
  const can = isKept || (await canIsolate(deps));
  const proposed = isKept ? level : can ? 'workspace' : 'off';
  const words = proposed ?? 'as your settings file says';
  const chosen =
    ask === undefined
      ? checked(proposed)
      : await ask.one(
          `Sandbox: off, workspace (writes only in the folder, no network) or strict [${words}]: `,
          (answer) => checked(answer === '' || answer === words ? proposed : toLevel(answer)),
        );
  const note =
    'There is no sandbox here: nacre doctor tells what it needs, and nacre init --sandbox workspace turns it on then.';
  return { variables: chosen === undefined ? {} : { NACRE_SANDBOX: chosen }, notes: can ? [] : [note] };
}

function tooWide(folder: string, level: string | undefined): NacreError {
  return new NacreError(
    'invalid_request',
    `The sandbox ${level} would refuse every command in ${folder}, which is the home directory, one of the system's own or one of settings. Choose a project folder (--project), or off.`,
    { hint: 'Nothing was written: run nacre init again with one of them.' },
  );
}

async function canIsolate({ engine }: EngineAccess): Promise<boolean> {
  try {
    return (await (await engine()).report()).supervision === 'namespace';
  } catch {
    return false;
  }
}

function toLevel(answer: string): string {
  if (['off', 'workspace', 'strict'].includes(answer)) return answer;
  throw new NacreError('invalid_request', `${answer} is none of off, workspace and strict.`, {
    hint: 'Choose one of them.',
  });
}

/** Whether the user's settings file gives a setting, be it outranked or not. */
export function isInFile(settings: readonly SettingInForce[], wanted: string): boolean {
  return settings.some(
    ({ key, origin: { source, outranked = [] } }) =>
      key === wanted && [source, ...outranked.map((other) => other.source)].includes('user'),
  );
}

/** Whether an entry or the user's settings name what stays writable in a sandbox; else it is the folder itself. */
export function namesWorkspace(settings: readonly SettingInForce[], { env = {}, more }: Told): boolean {
  const isInEntry = env.NACRE_WORKSPACE !== undefined || more.some((word) => /^--workspace(=|$)/.test(word));
  return isInEntry || isInFile(settings, 'workspace');
}

/** Whether a sandbox of this level would refuse every command in a folder, since it is no workspace. */
export function holdsNoSandbox(folder: string, level: string | undefined, home: string): boolean {
  if (level === undefined || level === 'off') return false;
  const place = canonicalOrGiven(folder);
  return [home, canonicalOrGiven(home)].some((one) => isTooWide(place, one) || holdsSettings(place, one));
}
