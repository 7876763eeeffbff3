import type { ServerTrial } from '../../../contract/report.ts';
import type { DiagnosisAccess, SettingsAccess, UserRules } from '../../door.ts';
import { type Finding, ok } from './finding.ts';

type PolicyDeps = Pick<SettingsAccess, 'settings' | 'toolWarnings'> &
  Pick<DiagnosisAccess, 'settingsFault'> &
  UserRules;

/** Whether the settings could be read, and what they let tools run; the entries of clients may list programs in their place. */
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
    return ok('policy', 'your own settings list no programs; those of each client stand in its entry');
  if (warning !== undefined)
    return { check: 'policy', status: 'warning', found: warning, fix: 'nacre init CLIENT --preset NAME' };
  const { preset, allow, policy = [] } = ownRules.rules;
  const list = allow.kind === 'names' ? `${allow.names.length} programs` : 'every program';
  const from = settings.find(({ key }) => key === 'allowed_commands')?.origin.where ?? 'default';
  const rules = policy.length === 0 ? '' : `, ${policy.length} written rules whose examples hold`;
  return ok(
    'policy',
    `${preset === undefined ? list : `the preset ${preset} (${list})`} may run (${from})${rules}`,
  );
}

/** Whether a client would get an answer, tried over stdio. */
export async function examineServer({ tryServer }: Pick<DiagnosisAccess, 'tryServer'>): Promise<Finding> {
  const check = 'mcp';
  try {
    return toFinding(check, await tryServer());
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const fix = 'Run nacre mcp by hand and read what it says on stderr.';
    return { check, status: 'problem', found: `a call over MCP on stdio failed: ${reason}`, fix };
  }
}

function toFinding(check: string, { protocol, tools, ran, text, durationMs }: ServerTrial): Finding {
  const answered = `a call over MCP on stdio (${protocol}, ${tools.length} tools) was answered in ${durationMs} ms`;
  if (ran) return ok(check, answered);
  const isRefused = /not allowed/.test(text);
  const found = `${answered}; the command echo did not run: ${text.replace(/\s+/g, ' ').trim().slice(0, 300)}`;
  return isRefused
    ? { check, status: 'note', found, fix: 'That is what the settings say; echo need not be listed.' }
    : { check, status: 'problem', found, fix: 'nacre run echo' };
}
