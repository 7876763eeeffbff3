import type { FlagAccess, VersionAccess } from '../door.ts';
import type { PageSessions } from './access/page-sessions.ts';
import type { Sites } from './access/sites.ts';
import type { OwnToken } from './access/tokens.ts';

type GreetingDeps = FlagAccess<{ readonly json: boolean }> & Pick<VersionAccess, 'version'>;

/** The text that `nacre serve` prints once it listens; with `--json` one line of JSON. */
export function toGreeting(
  { flags, version }: GreetingDeps,
  { sites, pages }: { readonly sites: Sites; readonly pages: PageSessions },
  token: OwnToken,
): string {
  const address = sites.address();
  const link = `${address}/open?ticket=${pages.issueTicket({ origin: address })}`;
  const mcp = `${address}/mcp`;
  if (flags.json) return `${JSON.stringify({ address, token: token.text, link, mcp })}\n`;
  const shown = token.isNew ? token.text : 'YOUR_TOKEN';
  const snippet = {
    mcpServers: { nacre: { type: 'http', url: mcp, headers: { Authorization: `Bearer ${shown}` } } },
  };
  return [
    `nacre ${version} serves on ${address}`,
    '',
    `Open in a browser (once, within ten minutes):\n  ${link}`,
    '',
    token.isNew
      ? `Token for programs (shown once):\n  ${token.text}`
      : 'Token for programs: the one that you configured.',
    '',
    `For agents that use MCP over HTTP:\n${JSON.stringify(snippet, null, 2)}`,
    '',
  ].join('\n');
}
