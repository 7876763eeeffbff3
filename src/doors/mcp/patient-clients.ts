import type { Patience } from '../../tools/common/time-limits.ts';

// `clientInfo.name` of clients whose default time limit for a tool call is documented to be longer than two minutes, when
// they start the server themselves. Most others use the MCP SDKs' default of 60 s. Codex is not listed: its limit was
// 60 s, 120 s and 300 s in different versions.
const patientClients: readonly string[] = [
  'claude-code', // MCP_TOOL_TIMEOUT, more than a day by default
  'gemini-cli-mcp-client', // `timeout` of a server in settings.json, 10 minutes by default
  'goose', // `timeout` of an extension in config.yaml, 300 s by default
];

/** How long a client on stdio waits for the reply to a tool call; a suffix after `-` is ignored (`goose-cli`). */
export function patienceOf(client: string): Patience {
  return patientClients.some((name) => client === name || client.startsWith(`${name}-`)) ? 'long' : 'usual';
}
