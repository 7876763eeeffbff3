import { NacreError } from '../../contract/failure.ts';
import type { Assembly } from '../door.ts';
import type { Ask } from './ask.ts';
import { holdsNoSandbox } from './holds-no-sandbox.ts';
import { isInFile } from './is-in-file.ts';
import { namesWorkspace } from './names-workspace.ts';
import type { Told } from './told-before.ts';

/** Chooses the sandbox, as a variable of the entry, with what whoever chose should know. */
export async function chooseSandbox(
  assembly: Assembly,
  project: string | undefined,
  flagged: Readonly<Record<string, string>>,
  before: Told,
  ask: Ask | undefined,
): Promise<{ variables: Readonly<Record<string, string>>; notes: readonly string[] }> {
  const checked = (level: string | undefined) => {
    const isNamed = flagged.NACRE_WORKSPACE !== undefined || namesWorkspace(assembly.settings, before);
    if (project !== undefined && !isNamed && holdsNoSandbox(project, level, assembly.machine.home))
      throw tooWide(project, level);
    return level;
  };
  if (flagged.NACRE_SANDBOX !== undefined) {
    checked(flagged.NACRE_SANDBOX);
    return { variables: {}, notes: [] };
  }
  const level = before.env?.NACRE_SANDBOX;
  const isKept = before.env !== undefined || isInFile(assembly.settings, 'sandbox');
  const can = isKept || (await canIsolate(assembly));
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

async function canIsolate({ engine }: Assembly): Promise<boolean> {
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
