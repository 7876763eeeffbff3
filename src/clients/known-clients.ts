// The parts of a result that real clients pass on to their models, measured with `npm run test:clients`, which fails if a
// client behaves differently or has another version.

/** A part of a tool result. */
export type ReplyPart = 'text' | 'data' | 'meta';

/** The facts about one client, as measured at `version`. */
export interface KnownClient {
  readonly title: string;
  /** Matches the name that it sends in `clientInfo`. */
  readonly clientName: RegExp;
  readonly version: string;
  /** The parts that its model reads of a result that has text, structured data and `_meta`. */
  readonly passesOn: readonly ReplyPart[];
  /** The parts that its model reads of a result with `isError`. */
  readonly passesOnErrors: readonly ReplyPart[];
  /** The smallest `ReplyShape` with which its model reads everything. */
  readonly reply: 'text' | 'data' | 'both';
  /** The longest text, in characters, that its model reads uncut; undefined if 100,000 arrive. */
  readonly maxChars: number | undefined;
  /** The longest text in lines; undefined if there is no limit on lines. */
  readonly maxLines: number | undefined;
  /** Whether it shows questions (elicitation) to a user at its terminal. */
  readonly asksUser: boolean;
}

/** The clients that were measured, by the names that `nacre init` accepts. */
export const knownClients: Readonly<Record<string, KnownClient>> = {
  'claude-code': {
    title: 'Claude Code',
    clientName: /^claude-code$/,
    version: '2.1.325',
    passesOn: ['data'],
    passesOnErrors: ['text'],
    reply: 'text',
    maxChars: 50_000,
    maxLines: undefined,
    asksUser: true,
  },
  codex: {
    title: 'Codex',
    clientName: /^codex-mcp-client$/,
    version: '0.166.0',
    passesOn: ['data'],
    passesOnErrors: ['data'],
    reply: 'text',
    maxChars: 11_900,
    maxLines: undefined,
    asksUser: true,
  },
  gemini: {
    title: 'Gemini CLI',
    clientName: /^gemini-cli-mcp-client$/,
    version: '0.61.0',
    passesOn: ['text'],
    passesOnErrors: ['text', 'data'],
    reply: 'text',
    maxChars: 39_900,
    maxLines: undefined,
    asksUser: false,
  },
  opencode: {
    title: 'opencode',
    clientName: /^opencode$/,
    version: '1.18.33',
    passesOn: ['text'],
    passesOnErrors: ['text'],
    reply: 'text',
    maxChars: 51_200,
    maxLines: 2_000,
    asksUser: false,
  },
  copilot: {
    title: 'Copilot CLI',
    clientName: /^copilot-cli$/,
    version: '1.0.102',
    passesOn: ['text', 'data'],
    passesOnErrors: ['text', 'data'],
    reply: 'text',
    maxChars: 20_480,
    maxLines: undefined,
    asksUser: true,
  },
  qwen: {
    title: 'Qwen Code',
    clientName: /^qwen-cli-mcp-client(?:-|$)/,
    version: '0.24.4',
    passesOn: ['data', 'text'],
    passesOnErrors: ['text', 'data'],
    reply: 'text',
    maxChars: 25_000,
    maxLines: undefined,
    asksUser: false,
  },
  kilo: {
    title: 'Kilo',
    clientName: /^kilo$/,
    version: '7.7.7',
    passesOn: ['text'],
    passesOnErrors: ['text'],
    reply: 'text',
    maxChars: 51_200,
    maxLines: 2_000,
    asksUser: false,
  },
  cline: {
    title: 'Cline',
    clientName: /^@cline\/core$/,
    version: '3.0.65',
    passesOn: ['text', 'data', 'meta'],
    passesOnErrors: ['text', 'data'],
    reply: 'text',
    maxChars: 7_500,
    maxLines: undefined,
    asksUser: false,
  },
  continue: {
    title: 'Continue',
    clientName: /^continue-cli-client$/,
    version: '1.5.47',
    passesOn: ['text'],
    passesOnErrors: ['text'],
    reply: 'text',
    maxChars: undefined,
    maxLines: undefined,
    asksUser: false,
  },
};

/** The facts about the client with this name in `clientInfo`; undefined for a client that was not measured. */
export function findKnownClient(clientName: string): KnownClient | undefined {
  return Object.values(knownClients).find((one) => one.clientName.test(clientName));
}
