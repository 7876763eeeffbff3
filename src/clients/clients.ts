// The supported clients: where each keeps its configuration file, and the keys under which it lists MCP servers.
import { isAbsolute, join } from 'node:path';

/** Whether a configuration applies to one project or to everything the user does. */
export type Scope = 'user' | 'project';

/** The facts that determine where `Client.file` is. */
export interface ClientMachine {
  readonly home: string;
  readonly platform: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly project: string;
}

/** One client that starts MCP servers. */
export interface Client {
  /** Display name, such as `Claude Code`. */
  readonly title: string;
  readonly format: 'json' | 'toml';
  /** The keys under which it lists servers, such as `mcpServers`. */
  readonly path: readonly string[];
  /** Further keys that an entry needs besides `command`, `args` and `env`. */
  readonly extra: Readonly<Record<string, string>>;
  /** The scope without `--scope`. */
  readonly scope: Scope;
  /** Whether it starts servers in the folder that the user works in. */
  readonly startsInProject: boolean;
  /** Matches text that it substitutes in the values of an entry, such as `${NAME}`. */
  readonly replaces: RegExp | undefined;
  /** How the user makes it read the file again. */
  readonly reload: string;
  file(scope: Scope, machine: ClientMachine): string | undefined;
}

/** The clients by the names that `nacre init` accepts. */
export const clients: Readonly<Record<string, Client>> = {
  'claude-code': {
    title: 'Claude Code',
    format: 'json',
    path: ['mcpServers'],
    extra: { type: 'stdio' },
    scope: 'user',
    startsInProject: true,
    replaces: /\$\{/,
    reload: 'Restart claude; /mcp shows nacre.',
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
    reload: 'Quit Claude Desktop completely and start it again.',
    file: (scope, machine) =>
      scope === 'project' ? undefined : join(appData(machine), 'Claude', 'claude_desktop_config.json'),
  },
  cursor: {
    title: 'Cursor',
    format: 'json',
    path: ['mcpServers'],
    extra: {},
    scope: 'project',
    startsInProject: false,
    replaces: /\$\{/,
    reload: 'Cursor reloads it automatically; its settings list nacre under MCP.',
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
    file: (scope, machine) =>
      scope === 'project'
        ? join(machine.project, '.vscode', 'mcp.json')
        : join(appData(machine), 'Code', 'User', 'mcp.json'),
  },
  codex: {
    title: 'Codex',
    format: 'toml',
    path: ['mcp_servers'],
    extra: {},
    scope: 'user',
    startsInProject: true,
    replaces: undefined,
    reload: 'Restart codex; /mcp shows nacre.',
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
    reload: 'Restart gemini; /mcp shows nacre.',
    file: (scope, { home, env, project }) =>
      join(scope === 'project' ? project : env.GEMINI_CLI_HOME || home, '.gemini', 'settings.json'),
  },
};

/** Any other client; most of them read servers from `mcpServers`. */
export const anyClient: Pick<Client, 'format' | 'path' | 'extra'> = {
  format: 'json',
  path: ['mcpServers'],
  extra: {},
};

function appData({ platform, home, env }: ClientMachine): string {
  if (platform === 'darwin') return join(home, 'Library', 'Application Support');
  if (platform === 'win32') return env.APPDATA || join(home, 'AppData', 'Roaming');
  const { XDG_CONFIG_HOME: named = '' } = env;
  return isAbsolute(named) ? named : join(home, '.config');
}
