// How each client is started: its model is the scripted one, its key is a dummy, and it neither updates itself nor reports
// anything. What a driver consents to (trust in the folder, calls without questions) is what `nacre init` tells the user.
import { type Place, writeIn } from './place.ts';

/** Arguments and variables of one start of a client. */
export interface Launch {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** How one client is started. */
export interface Driver {
  /** Writes configuration besides nacre's entry. Runs before `nacre init`. */
  configure(place: Place): void;
  /** Starts the task without a terminal. */
  headless(place: Place): Launch;
  /** Starts the task at a terminal, for a client that asks its user there. */
  interactive?(place: Place): Launch;
}

const task = 'Do the work.';
const key = 'dummy-key-for-tests';

/** The drivers, by the names that `nacre init` accepts. */
export const drivers: Readonly<Record<string, Driver>> = {
  'claude-code': {
    configure: ({ home, project }) =>
      writeIn(home, '.claude.json', {
        hasCompletedOnboarding: true,
        theme: 'dark',
        customApiKeyResponses: { approved: [key.slice(-20)], rejected: [] },
        projects: { [project]: { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true } },
      }),
    headless: (place) => ({ ...claude(place), args: ['-p', task, '--allowedTools', 'mcp__nacre'] }),
    interactive: (place) => ({
      ...claude(place),
      args: ['--permission-mode', 'default', '--allowedTools', 'mcp__nacre'],
    }),
  },
  codex: {
    configure: ({ home, project, modelUrl }) =>
      writeIn(
        home,
        '.codex/config.toml',
        `model = "scripted"
model_provider = "scripted"
check_for_update_on_startup = false

[model_providers.scripted]
name = "scripted"
base_url = "${modelUrl}/v1"
env_key = "SCRIPTED_KEY"
wire_api = "responses"

[analytics]
enabled = false

[projects."${project}"]
trust_level = "trusted"

[mcp_servers.nacre]
default_tools_approval_mode = "approve"
required = true
`,
      ),
    headless: () => ({ args: ['exec', '--skip-git-repo-check', task], env: { SCRIPTED_KEY: key } }),
    interactive: () => ({ args: [], env: { SCRIPTED_KEY: key } }),
  },
  gemini: {
    configure: ({ home }) =>
      writeIn(home, '.gemini/settings.json', {
        security: { auth: { selectedType: 'gemini-api-key' }, folderTrust: { enabled: false } },
        general: { enableAutoUpdate: false },
        privacy: { usageStatisticsEnabled: false },
        telemetry: { enabled: false },
        mcpServers: { nacre: { trust: true } },
      }),
    headless: ({ modelUrl }) => ({
      args: ['-p', task, '-m', 'gemini-2.5-pro'],
      env: { GEMINI_API_KEY: key, GOOGLE_GEMINI_BASE_URL: modelUrl, GEMINI_CLI_NO_RELAUNCH: 'true' },
    }),
  },
  opencode: {
    configure: ({ home, modelUrl }) => writeIn(home, '.config/opencode/opencode.json', openCode(modelUrl)),
    headless: () => ({
      args: ['run', task],
      env: { OPENCODE_DISABLE_AUTOUPDATE: '1', OPENCODE_DISABLE_MODELS_FETCH: '1' },
    }),
  },
  copilot: {
    configure: ({ home, project }) =>
      writeIn(home, '.copilot/config.json', { trusted_folders: [project], trustedFolders: [project] }),
    headless: (place) => ({ ...copilot(place), args: ['-p', task, '--allow-all-tools', '--no-auto-update'] }),
    interactive: (place) => ({
      ...copilot(place),
      args: ['--allow-all-tools', '--no-auto-update'],
    }),
  },
  qwen: {
    configure: ({ home }) =>
      writeIn(home, '.qwen/settings.json', {
        security: { auth: { selectedType: 'openai' }, folderTrust: { enabled: false } },
        general: { enableAutoUpdate: false },
        privacy: { usageStatisticsEnabled: false },
        mcpServers: { nacre: { trust: true } },
      }),
    headless: ({ modelUrl }) => ({
      args: ['-p', task],
      env: {
        OPENAI_API_KEY: key,
        OPENAI_BASE_URL: `${modelUrl}/v1`,
        OPENAI_MODEL: 'scripted',
        QWEN_CODE_NO_RELAUNCH: 'true',
      },
    }),
  },
  kilo: {
    configure: ({ home, modelUrl }) => writeIn(home, '.config/kilo/kilo.json', openCode(modelUrl)),
    headless: () => ({
      args: ['run', '--auto', task],
      env: { KILO_DISABLE_AUTOUPDATE: '1', KILO_DISABLE_MODELS_FETCH: '1' },
    }),
  },
  cline: {
    configure: ({ home, modelUrl }) => {
      const settings = {
        provider: 'openai-compatible',
        apiKey: key,
        model: 'scripted',
        baseUrl: `${modelUrl}/v1`,
      };
      const provider = { settings, updatedAt: '2026-01-01T00:00:00.000Z', tokenSource: 'manual' };
      writeIn(home, '.cline/data/settings/providers.json', {
        version: 1,
        lastUsedProvider: 'openai-compatible',
        modes: {},
        providers: { 'openai-compatible': provider },
      });
    },
    headless: () => ({ args: [task, '--json'], env: {} }),
  },
  continue: {
    configure: ({ home, modelUrl }) =>
      writeIn(
        home,
        '.continue/config.yaml',
        `name: scripted
version: 1.0.0
schema: v1
models:
  - name: scripted
    provider: openai
    model: scripted
    apiKey: ${key}
    apiBase: ${modelUrl}/v1
    capabilities: [tool_use]
    roles: [chat]
`,
      ),
    headless: ({ home }) => ({
      args: ['-p', task, '--config', `${home}/.continue/config.yaml`, '--auto'],
      env: { CONTINUE_TELEMETRY_ENABLED: '0' },
    }),
  },
};

function claude({ modelUrl }: Place): Launch {
  return {
    args: [],
    env: {
      ANTHROPIC_BASE_URL: modelUrl,
      ANTHROPIC_API_KEY: key,
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_AUTOUPDATER: '1',
      ENABLE_TOOL_SEARCH: 'false',
      // On a busy machine Claude Code would send its first request before nacre has started.
      CLAUDE_CODE_MCP_STARTUP_WAIT_MS: '60000',
    },
  };
}

function copilot({ modelUrl }: Place): Launch {
  return {
    args: [],
    env: {
      COPILOT_PROVIDER_BASE_URL: `${modelUrl}/v1`,
      COPILOT_PROVIDER_TYPE: 'openai',
      COPILOT_PROVIDER_API_KEY: key,
      COPILOT_MODEL: 'scripted',
      COPILOT_OFFLINE: 'true',
    },
  };
}

function openCode(modelUrl: string): object {
  const models = { scripted: { name: 'scripted', limit: { context: 2_000_000, output: 10_000 } } };
  const options = { baseURL: `${modelUrl}/v1`, apiKey: key };
  return {
    autoupdate: false,
    share: 'disabled',
    model: 'scripted/scripted',
    small_model: 'scripted/scripted',
    provider: { scripted: { npm: '@ai-sdk/openai-compatible', name: 'scripted', options, models } },
  };
}
