import type { Assembly } from '../door.ts';
import type { AppParts } from './create-app.ts';
import type { OwnToken } from './read-token.ts';

/** What is printed when the server is ready: for people, or one line of JSON for scripts. */
export function toGreeting(
  { flags, version }: Pick<Assembly, 'flags' | 'version'>,
  { sites, pages }: Pick<AppParts, 'sites' | 'pages'>,
  token: OwnToken,
): string {
  const address = sites.address();
  const link = `${address}/open?ticket=${pages.issueTicket({ origin: address })}`;
  const mcp = `${address}/mcp`;
  if (flags.json === true) return `${JSON.stringify({ address, token: token.text, link, mcp })}\n`;
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
      : 'Token for programs: the one that you set.',
    '',
    `For an agent that speaks MCP over HTTP:\n${JSON.stringify(snippet, null, 2)}`,
    '',
  ].join('\n');
}
