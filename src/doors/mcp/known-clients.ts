// Clients by their name in `clientInfo`. This file is data; `tests/clients/` measures it.
import type { ReplyShape } from '../../contract/reply-shape.ts';
import type { Patience } from '../../tools/common/time-limits.ts';

/** A client, and the shape of reply that loses nothing in it. */
export interface KnownClient {
  /** `clientInfo.name`; a suffix after `-` or a space is ignored, as in `goose-cli`. */
  readonly name: string;
  /** The version of which `reply` was measured. */
  readonly version?: string;
  /** The shortest shape that its model receives completely; without one, it gets what an unknown client gets. */
  readonly reply?: ReplyShape;
  /**
   * `long` if its default time limit for a tool call is documented to be longer than two minutes, when it starts the server
   * itself. Most others use the MCP SDKs' default of 60 s. Codex is not patient: its limit was 60 s, 120 s and 300 s in
   * different versions.
   */
  readonly patience?: Patience;
}

const knownClients: readonly KnownClient[] = [
  // MCP_TOOL_TIMEOUT, more than a day by default.
  { name: 'claude-code', version: '2.1.197', reply: 'text', patience: 'long' },
  // `timeout` of a server in settings.json, 10 minutes by default.
  { name: 'gemini-cli-mcp-client', patience: 'long' },
  // `timeout` of an extension in config.yaml, 300 s by default.
  { name: 'goose', patience: 'long' },
];

/** Finds a client by its name in `clientInfo`. */
export function findClient(name: string): KnownClient | undefined {
  return knownClients.find(
    (known) => name === known.name || name.startsWith(`${known.name}-`) || name.startsWith(`${known.name} `),
  );
}

/** How long a client on stdio waits for the reply to a tool call. */
export function patienceOf(client: string): Patience {
  return findClient(client)?.patience ?? 'usual';
}

/** The shape of replies to a client under the setting `reply`. */
export function replyShapeFor(client: string, setting: ReplyShape | 'auto'): ReplyShape {
  return setting === 'auto' ? (findClient(client)?.reply ?? 'both') : setting;
}
