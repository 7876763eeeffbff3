import type { ServerTrial } from '../../../contract/report.ts';
import type { DiagnosisAccess, SettingsAccess, UserRules } from '../../door.ts';
import { type Finding, ok } from './finding.ts';

type PolicyDeps = Pick<SettingsAccess, 'settings' | 'toolWarnings'> &
  Pick<DiagnosisAccess, 'settingsFault'> &
  UserRules;

/** Checks whether the settings are valid, and what `allowed_commands` lets tools run; clients may have the list in their entries. */
export function examinePolicy(
  { settings, toolWarnings, settingsFault, ownRules }: PolicyDeps,
  isListedByClients: boolean,
): Finding {
  if (settingsFault !== undefined) {
    const { message, hint } = settingsFault;
    return { check: 'policy', status: 'problem', found: message, fix: hint };
  }
  const [warning] = toolWarnings;
  if (warning !== undefined && isListedByClients)
    return ok('policy', 'your own settings allow no programs; each client has its list in its entry');
  if (warning !== undefined)
    return { check: 'policy', status: 'warning', found: warning, fix: 'nacre init CLIENT --preset NAME' };
  const { preset, allow, policy = [] } = ownRules.rules;
  const list = allow.kind === 'names' ? `${allow.names.length} programs` : 'every program';
  const from = settings.find(({ key }) => key === 'allowed_commands')?.origin.where ?? 'default';
  const rules = policy.length === 0 ? '' : `; ${policy.length} policy rules with passing examples`;
  return ok(
    'policy',
    `${preset === undefined ? list : `the preset ${preset} (${list})`} may run (${from})${rules}`,
  );
}

/** Checks whether a client would get an answer, by starting `nacre mcp` and making one call. */
export async function examineServer({ tryServer }: Pick<DiagnosisAccess, 'tryServer'>): Promise<Finding> {
  const check = 'mcp';
  try {
    return toFinding(check, await tryServer());
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const fix = 'Run nacre mcp by hand and read its stderr.';
    return { check, status: 'problem', found: `an MCP call over stdio failed: ${reason}`, fix };
  }
}

function toFinding(check: string, { protocol, tools, ran, text, code, durationMs }: ServerTrial): Finding {
  const answered = `an MCP call over stdio (${protocol}, ${tools.length} tools) was answered in ${durationMs} ms`;
  if (ran) return ok(check, answered);
  const found = `${answered}; the command echo did not run: ${text.replace(/\s+/g, ' ').trim().slice(0, 300)}`;
  return code === 'policy_denied'
    ? {
        check,
        status: 'note',
        found,
        fix: 'This follows from your settings; echo does not have to be allowed.',
      }
    : { check, status: 'problem', found, fix: 'nacre run echo' };
}
