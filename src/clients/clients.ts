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
  /** The format of the file; in YAML, servers are items of a list with the key `name`. */
  readonly format: 'json' | 'toml' | 'yaml';
  /** The keys under which it lists servers, such as `mcpServers`. */
  readonly path: readonly string[];
  /** Whether an entry has `command`, `args` and `env`, or one list `command` and `environment`. */
  readonly words?: 'apart' | 'one-list';
  /** Further keys that a new entry needs. */
  readonly extra: Readonly<Record<string, unknown>>;
  /** The scope without `--scope`. */
  readonly scope: Scope;
  /** Whether it starts servers in the user's project folder. */
  readonly startsInProject: boolean;
  /** Matches text that it substitutes in the values of an entry, such as `${NAME}`. */
  readonly replaces: RegExp | undefined;
  /** How the user makes it reload the file. */
  readonly reload: string;
  /** The possible paths of its file, the usual one first; none if it has no file for this scope. */
  files(scope: Scope, machine: ClientMachine): readonly string[];
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
    files: (scope, { home, env, project }) => [
      scope === 'project' ? join(project, '.mcp.json') : join(env.CLAUDE_CONFIG_DIR || home, '.claude.json'),
    ],
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
    files: (scope, machine) =>
      scope === 'project' ? [] : [join(appData(machine), 'Claude', 'claude_desktop_config.json')],
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
    files: (scope, { home, project }) => [join(scope === 'project' ? project : home, '.cursor', 'mcp.json')],
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
    files: (scope, machine) => [
      scope === 'project'
        ? join(machine.project, '.vscode', 'mcp.json')
        : join(appData(machine), 'Code', 'User', 'mcp.json'),
    ],
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
    files: (scope, { home, env, project }) => [
      scope === 'project'
        ? join(project, '.codex', 'config.toml')
        : join(env.CODEX_HOME || join(home, '.codex'), 'config.toml'),
    ],
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
    files: (scope, { home, env, project }) => [
      join(scope === 'project' ? project : env.GEMINI_CLI_HOME || home, '.gemini', 'settings.json'),
    ],
  },
  qwen: {
    title: 'Qwen Code',
    format: 'json',
    path: ['mcpServers'],
    extra: {},
    scope: 'user',
    startsInProject: true,
    replaces: /\$/,
    reload: 'Restart qwen; /mcp shows nacre.',
    files: (scope, { home, env, project }) => [
      scope === 'project'
        ? join(project, '.qwen', 'settings.json')
        : join(env.QWEN_HOME || join(home, '.qwen'), 'settings.json'),
    ],
  },
  copilot: {
    title: 'Copilot CLI',
    format: 'json',
    path: ['mcpServers'],
    extra: { type: 'local', tools: ['*'] },
    scope: 'user',
    startsInProject: true,
    replaces: /\$/,
    reload: 'Restart copilot; /mcp shows nacre.',
    files: (scope, { home, env, project }) => [
      scope === 'project'
        ? join(project, '.github', 'mcp.json')
        : join(env.COPILOT_HOME || join(home, '.copilot'), 'mcp-config.json'),
    ],
  },
  opencode: {
    title: 'opencode',
    format: 'json',
    path: ['mcp'],
    words: 'one-list',
    extra: { type: 'local', enabled: true },
    scope: 'user',
    startsInProject: true,
    replaces: /\{(?:env|file):/,
    reload: 'Restart opencode; opencode mcp list shows nacre.',
    files: (scope, machine) =>
      jsonOrJsonc(scope === 'project' ? machine.project : join(xdgConfig(machine), 'opencode'), 'opencode'),
  },
  kilo: {
    title: 'Kilo',
    format: 'json',
    path: ['mcp'],
    words: 'one-list',
    extra: { type: 'local', enabled: true },
    scope: 'user',
    startsInProject: true,
    replaces: /\{(?:env|file):/,
    reload: 'Restart kilo; kilo mcp list shows nacre.',
    files: (scope, machine) =>
      jsonOrJsonc(scope === 'project' ? machine.project : join(xdgConfig(machine), 'kilo'), 'kilo'),
  },
  cline: {
    title: 'Cline',
    format: 'json',
    path: ['mcpServers'],
    extra: {},
    scope: 'user',
    startsInProject: true,
    replaces: undefined,
    reload: 'Restart cline; nacre is among its MCP servers.',
    files: (scope, { home }) =>
      scope === 'project' ? [] : [join(home, '.cline', 'data', 'settings', 'cline_mcp_settings.json')],
  },
  continue: {
    title: 'Continue',
    format: 'yaml',
    path: ['mcpServers'],
    extra: {},
    scope: 'user',
    startsInProject: true,
    replaces: /\$\{\{/,
    reload: 'Restart cn, or reload the window of the editor; /mcp shows nacre.',
    files: (scope, { home, env }) =>
      scope === 'project' ? [] : [join(env.CONTINUE_GLOBAL_DIR || join(home, '.continue'), 'config.yaml')],
  },
};

/** Any other client; most of them read servers from `mcpServers`. */
export const anyClient: Pick<Client, 'format' | 'path' | 'words' | 'extra'> = {
  format: 'json',
  path: ['mcpServers'],
  extra: {},
};

function appData(machine: ClientMachine): string {
  const { platform, home, env } = machine;
  if (platform === 'darwin') return join(home, 'Library', 'Application Support');
  if (platform === 'win32') return env.APPDATA || join(home, 'AppData', 'Roaming');
  return xdgConfig(machine);
}

function xdgConfig({ home, env: { XDG_CONFIG_HOME: named = '' } }: ClientMachine): string {
  return isAbsolute(named) ? named : join(home, '.config');
}

function jsonOrJsonc(folder: string, name: string): readonly string[] {
  return [join(folder, `${name}.json`), join(folder, `${name}.jsonc`)];
}
