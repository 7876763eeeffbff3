// Where each client keeps its configuration, and under which keys it looks for servers.
import { isAbsolute, join } from 'node:path';

/** Where a configuration holds: for one project, or for all that its user does. */
export type Scope = 'user' | 'project';

/** What the places depend on. */
export interface ClientSurroundings {
  readonly home: string;
  readonly platform: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The folder of the project. */
  readonly project: string;
}

/** One client that starts MCP servers. */
export interface Client {
  /** Its name for people. */
  readonly title: string;
  readonly format: 'json' | 'toml';
  /** The keys that lead to its servers. */
  readonly path: readonly string[];
  /** What it wants in an entry beside command, arguments and variables. */
  readonly extra: Readonly<Record<string, string>>;
  /** The scope that is taken when none is named. */
  readonly scope: Scope;
  /** Whether it starts servers in the folder that its user works in. */
  readonly startsInProject: boolean;
  /** What it replaces in the values of an entry. */
  readonly replaces: RegExp | undefined;
  /** What its user does to make it read the file again. */
  readonly reload: string;
  file(scope: Scope, here: ClientSurroundings): string | undefined;
}

/** The clients by the names that `nacre init` takes. */
export const clients: Readonly<Record<string, Client>> = {
  'claude-code': {
    title: 'Claude Code',
    format: 'json',
    path: ['mcpServers'],
    extra: { type: 'stdio' },
    scope: 'user',
    startsInProject: true,
    replaces: /\$\{/,
    reload: 'Start claude anew; /mcp shows nacre.',
    file: (scope, { home, env, project }) =>
      scope === 'project' ? join(project, '.mcp.json') : join(env.CLAUDE_CONFIG_DIR || home, '.claude.json'),
  },
  'claude-desktop': {
    title: 'Claude Desktop',
    format: 'json',
    path: ['mcpServers'],
    extra: {},
    scope: 'user',
    startsInProject: false,
    replaces: undefined,
    reload: 'Quit Claude Desktop wholly and start it again.',
    file: (scope, here) =>
      scope === 'project' ? undefined : join(appData(here), 'Claude', 'claude_desktop_config.json'),
  },
  cursor: {
    title: 'Cursor',
    format: 'json',
    path: ['mcpServers'],
    extra: {},
    scope: 'project',
    startsInProject: false,
    replaces: /\$\{/,
    reload: 'Cursor reads it by itself; its settings list nacre under MCP.',
    file: (scope, { home, project }) => join(scope === 'project' ? project : home, '.cursor', 'mcp.json'),
  },
  vscode: {
    title: 'VS Code',
    format: 'json',
    path: ['servers'],
    extra: { type: 'stdio' },
    scope: 'project',
    startsInProject: true,
    replaces: /\$\{/,
    reload: 'Run "MCP: List Servers" in VS Code and start nacre there.',
    file: (scope, here) =>
      scope === 'project'
        ? join(here.project, '.vscode', 'mcp.json')
        : join(appData(here), 'Code', 'User', 'mcp.json'),
  },
  codex: {
    title: 'Codex',
    format: 'toml',
    path: ['mcp_servers'],
    extra: {},
    scope: 'user',
    startsInProject: true,
    replaces: undefined,
    reload: 'Start codex anew; /mcp shows nacre.',
    file: (scope, { home, env, project }) =>
      scope === 'project'
        ? join(project, '.codex', 'config.toml')
        : join(env.CODEX_HOME || join(home, '.codex'), 'config.toml'),
  },
  gemini: {
    title: 'Gemini CLI',
    format: 'json',
    path: ['mcpServers'],
    extra: {},
    scope: 'user',
    startsInProject: true,
    replaces: /\$/,
    reload: 'Start gemini anew; /mcp shows nacre.',
    file: (scope, { home, env, project }) =>
      join(scope === 'project' ? project : env.GEMINI_CLI_HOME || home, '.gemini', 'settings.json'),
  },
};

/** A client that is not known here; most of them read this form. */
export const anyClient: Pick<Client, 'format' | 'path' | 'extra'> = {
  format: 'json',
  path: ['mcpServers'],
  extra: {},
};

function appData({ platform, home, env }: ClientSurroundings): string {
  if (platform === 'darwin') return join(home, 'Library', 'Application Support');
  if (platform === 'win32') return env.APPDATA || join(home, 'AppData', 'Roaming');
  const { XDG_CONFIG_HOME: named = '' } = env;
  return isAbsolute(named) ? named : join(home, '.config');
}
