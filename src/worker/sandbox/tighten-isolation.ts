import { NacreError } from '../../contract/failure.ts';
import { type AskedIsolation, type Isolation, sandboxNames } from '../../contract/isolation.ts';

/** The isolation of one command: that of the settings, or a stricter one that its call asks for; a looser one is refused. */
export function tightenIsolation(settings: Isolation, asked: AskedIsolation = {}): Isolation {
  const { sandbox = settings.sandbox, workspace = [] } = asked;
  if (sandboxNames.indexOf(sandbox) < sandboxNames.indexOf(settings.sandbox)) {
    throw new NacreError(
      'invalid_request',
      `sandbox ${sandbox} is looser than ${settings.sandbox}, which the settings ask for. Nothing was run.`,
      { hint: `Leave sandbox out, or ask for ${sandboxNames.at(-1)}.` },
    );
  }
  return { ...settings, sandbox, workspace: settings.workspace.length > 0 ? settings.workspace : workspace };
}
