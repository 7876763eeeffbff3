import type { SettingInForce } from '../../settings/setting-in-force.ts';
import type { FlagAccess, PageLink, SettingsAccess, VersionAccess } from '../door.ts';
import type { OwnToken } from './access/tokens.ts';

type GreetingDeps = FlagAccess<{ readonly json: boolean }> &
  Pick<VersionAccess, 'version'> &
  Pick<SettingsAccess, 'settings' | 'toolWarnings'>;

/** The text that `nacre serve` prints once it listens, ending with the link; with `--json`, one line of JSON. */
export function toGreeting(
  { flags, version, settings, toolWarnings }: GreetingDeps,
  { address, link }: PageLink,
  token: OwnToken,
): string {
  const mcp = `${address}/mcp`;
  if (flags.json) return `${JSON.stringify({ address, token: token.text, link, mcp })}\n`;
  const allowed = toolWarnings.length > 0 ? 'nothing' : describeAllowed(settings);
  return [
    `nacre ${version} serves on ${address}`,
    `Agents connect to ${mcp} and may run ${allowed}.`,
    token.isNew ? `Token (shown once): ${token.text}` : 'Token: the one that you configured.',
    '',
    'Open this link in a browser (once, within ten minutes; nacre open makes another):',
    `  ${link}`,
    '',
  ].join('\n');
}

function describeAllowed(settings: readonly SettingInForce[]): string {
  const list = settings.find(({ key }) => key === 'allowed_commands');
  const names = Array.isArray(list?.value) ? list.value.map(String) : ['*'];
  if (list?.origin.impliedBy !== undefined) return `the programs of the preset ${list.origin.impliedBy}`;
  if (names.includes('*')) return 'every program';
  return names.length > shownNames
    ? `${names.slice(0, shownNames).join(', ')} and ${names.length - shownNames} more`
    : names.join(', ');
}

const shownNames = 8;
