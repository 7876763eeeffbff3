import { NacreError } from '../../contract/failure.ts';
import { type Isolation, type RequestedIsolation, sandboxNames } from '../../contract/isolation.ts';

/** The isolation of one command: that of the settings, or a stricter `sandbox` of the call; throws for a looser one. */
export function tightenIsolation(settings: Isolation, requested: RequestedIsolation = {}): Isolation {
  const { sandbox = settings.sandbox, workspace = [] } = requested;
  if (sandboxNames.indexOf(sandbox) < sandboxNames.indexOf(settings.sandbox)) {
    throw new NacreError(
      'invalid_request',
      `sandbox ${sandbox} is looser than ${settings.sandbox}, which the settings require. Nothing was run.`,
      { hint: `Omit sandbox, or request ${sandboxNames.at(-1)}.` },
    );
  }
  return { ...settings, sandbox, workspace: settings.workspace.length > 0 ? settings.workspace : workspace };
}
