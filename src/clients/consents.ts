// Confirmations that a client requires from its user after `nacre init` has written the entry, as observed with the
// versions in `known-clients.ts`. `nacre init` prints them, and `nacre doctor` reports those that are missing.
import { join } from 'node:path';
import type { ClientMachine, Scope } from './clients.ts';
import { getJson } from './edit-json.ts';
import { getToml } from './edit-toml.ts';

/** The entry that needs a consent, and access to the files that may show it. */
export interface ConsentContext {
  readonly scope: Scope;
  readonly machine: ClientMachine;
  /** The configuration file that has the entry. */
  readonly path: string;
  /** The text of a file; empty if there is none. */
  read(path: string): string;
}

/** A confirmation that a client requires from its user before it calls nacre. */
export interface Consent {
  /** The scopes whose entries need it. */
  readonly scopes: readonly Scope[];
  /** The consequence of a missing consent. */
  readonly without: string;
  /** How the user confirms. */
  give(context: Pick<ConsentContext, 'machine' | 'path'>): string;
  /**
   * Whether the client's files show that the user has confirmed; false if that is only possible on the command line.
   */
  isGiven(context: ConsentContext): boolean;
}

const both: readonly Scope[] = ['user', 'project'];

/** The consents by client; clients that are not listed require none. */
export const consents: Readonly<Record<string, readonly Consent[]>> = {
  'claude-code': [
    {
      scopes: both,
      without: 'Claude Code asks before it calls nacre, and claude -p refuses every call.',
      give: ({ machine }) =>
        `Add "mcp__nacre" to permissions.allow in ${claudeSettings(machine)}, or pass --allowedTools mcp__nacre.`,
      isGiven: ({ machine, read }) =>
        [claudeSettings(machine), join(machine.project, '.claude', 'settings.json')].some((path) =>
          listIn(getJson(read(path), ['permissions', 'allow'])).some((rule) =>
            /^mcp__nacre(?:__\*)?$/.test(rule),
          ),
        ),
    },
    {
      scopes: ['project'],
      without: 'Claude Code asks once, at a terminal, whether to start the servers of .mcp.json.',
      give: () => 'Start claude in the project and approve nacre.',
      isGiven: () => false,
    },
  ],
  codex: [
    {
      scopes: both,
      without: 'Codex asks before it calls nacre, and codex exec refuses every call.',
      give: ({ path }) => `Add default_tools_approval_mode = "approve" to [mcp_servers.nacre] in ${path}.`,
      isGiven: ({ path, read }) =>
        getToml(read(path), ['mcp_servers', 'nacre'])?.default_tools_approval_mode === 'approve',
    },
    {
      scopes: ['project'],
      without: 'Codex reads .codex/config.toml only in a folder that you trust.',
      give: ({ machine }) =>
        `Start codex in ${machine.project} and trust it, or add trust_level = "trusted" to [projects."${machine.project}"] in ${codexConfig(machine)}.`,
      isGiven: ({ machine, read }) =>
        getToml(read(codexConfig(machine)), ['projects', machine.project])?.trust_level === 'trusted',
    },
  ],
  gemini: [
    {
      scopes: both,
      without: 'Gemini CLI asks before it calls nacre, and gemini -p offers none of its tools.',
      give: ({ path }) => `Add "trust": true to the entry for nacre in ${path}.`,
      isGiven: isTrusted,
    },
    {
      scopes: both,
      without: 'Gemini CLI starts no server in a folder that you do not trust.',
      give: ({ machine }) => `Start gemini in ${machine.project} and trust it, or pass --skip-trust.`,
      isGiven: ({ machine, read }) => {
        const folder = join(machine.env.GEMINI_CLI_HOME || machine.home, '.gemini');
        const settings = read(join(folder, 'settings.json'));
        if (getJson(settings, ['security', 'folderTrust', 'enabled']) === false) return true;
        return trustsFolder(getJson(read(join(folder, 'trustedFolders.json')), []), machine.project);
      },
    },
  ],
  qwen: [
    {
      scopes: both,
      without: 'Qwen Code asks before it calls nacre, and qwen -p refuses every call.',
      give: ({ path }) => `Add "trust": true to the entry for nacre in ${path}.`,
      isGiven: isTrusted,
    },
    {
      scopes: ['project'],
      without: "Qwen Code does not start the servers of a project's file before you approve them.",
      give: ({ machine }) => `Run qwen mcp approve nacre in ${machine.project}.`,
      isGiven: ({ machine, read }) => {
        const file = join(machine.env.QWEN_HOME || join(machine.home, '.qwen'), 'mcpApprovals.json');
        return read(file).includes(JSON.stringify(machine.project));
      },
    },
  ],
  copilot: [
    {
      scopes: both,
      without: 'Copilot CLI asks before it calls nacre, and copilot -p refuses every call.',
      give: () => 'Pass --allow-tool nacre, or approve nacre for the folder when it asks.',
      isGiven: () => false,
    },
    {
      scopes: ['project'],
      without: 'Copilot CLI starts the servers of .github/mcp.json only in a folder that you trust.',
      give: ({ machine }) => `Start copilot in ${machine.project} and trust it.`,
      isGiven: ({ machine, read }) => {
        const folder = machine.env.COPILOT_HOME || join(machine.home, '.copilot');
        const text = read(join(folder, 'config.json'));
        return ['trusted_folders', 'trustedFolders'].some((key) =>
          listIn(getJson(text, [key])).some((one) => isBelow(machine.project, one)),
        );
      },
    },
  ],
};

/** The consents that an entry in this scope requires. */
export function consentsFor(client: string, scope: Scope): readonly Consent[] {
  const all = Object.hasOwn(consents, client) ? consents[client] : undefined;
  return (all ?? []).filter(({ scopes }) => scopes.includes(scope));
}

function isTrusted({ path, read }: ConsentContext): boolean {
  return getJson(read(path), ['mcpServers', 'nacre', 'trust']) === true;
}

function trustsFolder(folders: unknown, project: string): boolean {
  if (folders === null || typeof folders !== 'object') return false;
  return Object.entries(folders).some(
    ([folder, level]) => level !== 'DO_NOT_TRUST' && isBelow(project, folder),
  );
}

function isBelow(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith('/') ? folder : `${folder}/`);
}

function claudeSettings({ home, env }: ClientMachine): string {
  return join(env.CLAUDE_CONFIG_DIR || join(home, '.claude'), 'settings.json');
}

function codexConfig({ home, env }: ClientMachine): string {
  return join(env.CODEX_HOME || join(home, '.codex'), 'config.toml');
}

function listIn(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}
