// A client's own shell tool. Commands that run there bypass nacre, so it can be turned off, but only with the setting that
// the client's documentation names for this (`docs/guide/own-shell.md`).
import { join } from 'node:path';
import { NacreError } from '../contract/failure.ts';
import { type Client, type ClientMachine, clients, type Scope } from './clients.ts';
import { getJson, removeJson, setJson } from './edit-json.ts';
import { getToml, setToml } from './edit-toml.ts';
import { findConfigFile } from './find-entries.ts';
import { TextFault } from './text-edits.ts';

/** How a client's own shell is turned off. */
export interface OwnShell {
  /** The setting, for questions and messages. */
  readonly setting: string;
  file(scope: Scope, machine: ClientMachine): string;
  isOff(text: string): boolean;
  turn(text: string, state: 'on' | 'off'): string;
}

const geminiRule = '[[rule]]\ntoolName = "run_shell_command"\ndecision = "deny"\npriority = 999\n';

/** The clients' own shells, by client; a client without a documented setting is in `withoutSetting` instead. */
export const ownShells: Readonly<Record<string, OwnShell>> = {
  'claude-code': {
    setting: 'permissions.deny: ["Bash"]',
    file: (scope, { home, env, project }) =>
      scope === 'project'
        ? join(project, '.claude', 'settings.json')
        : join(env.CLAUDE_CONFIG_DIR || join(home, '.claude'), 'settings.json'),
    ...denyList('Bash'),
  },
  codex: {
    setting: 'shell_tool = false in [features]',
    file: (scope, { home, env, project }) =>
      scope === 'project'
        ? join(project, '.codex', 'config.toml')
        : join(env.CODEX_HOME || join(home, '.codex'), 'config.toml'),
    isOff: (text) => getToml(text, ['features'])?.shell_tool === false,
    turn: (text, state) => setToml(text, ['features'], { shell_tool: state === 'on' }),
  },
  qwen: {
    setting: 'permissions.deny: ["run_shell_command"]',
    file: (scope, { home, env, project }) =>
      scope === 'project'
        ? join(project, '.qwen', 'settings.json')
        : join(env.QWEN_HOME || join(home, '.qwen'), 'settings.json'),
    ...denyList('run_shell_command'),
  },
  opencode: denyBash(clients.opencode),
  kilo: denyBash(clients.kilo),
  gemini: {
    setting: 'a policy rule that denies run_shell_command',
    file: (scope, { home, env, project }) =>
      join(scope === 'project' ? project : env.GEMINI_CLI_HOME || home, '.gemini', 'policies', 'nacre.toml'),
    isOff: (text) => text.includes(geminiRule),
    turn: (text, state) => {
      const others = text.replaceAll(geminiRule, '');
      return state === 'off' ? `${others}${geminiRule}` : others;
    },
  },
};

/** Why a client's own shell cannot be turned off by a setting; undefined if it can. */
export const withoutSetting: Readonly<Record<string, string>> = {
  'claude-desktop': 'Claude Desktop has no shell of its own.',
  vscode:
    'VS Code documents no setting that removes its terminal tool. Deselect it with Configure Tools in the chat view.',
  cursor:
    'Cursor documents no setting that removes its terminal tool; its settings only decide which commands need approval.',
  copilot: "Copilot CLI documents no setting for this; start it with copilot --deny-tool 'shell'.",
  cline: 'Cline documents no setting that removes its own shell.',
  continue: 'Continue documents no setting for this; start it with cn --exclude Bash.',
};

/** Returns the text with the own shell on or off; throws `settings_invalid` for a file that cannot be edited. */
export function turnOwnShell(shell: OwnShell, text: string, state: 'on' | 'off', file: string): string {
  try {
    return shell.isOff(text) === (state === 'off') ? text : shell.turn(text, state);
  } catch (cause) {
    if (!(cause instanceof TextFault)) throw cause;
    throw new NacreError('settings_invalid', `${file} cannot be edited: ${cause.message}.`, {
      hint: `Set ${shell.setting} there by hand.`,
      cause,
    });
  }
}

function denyList(tool: string): Pick<OwnShell, 'isOff' | 'turn'> {
  return {
    isOff: (text) => deniedIn(text).includes(tool),
    turn: (text, state) => {
      const others = deniedIn(text).filter((rule) => rule !== tool);
      return setJson(text, ['permissions', 'deny'], state === 'off' ? [...others, tool] : others);
    },
  };
}

/** `permission.bash` of opencode and of Kilo, which is built on it. */
function denyBash(client: Client | undefined): OwnShell {
  return {
    setting: 'permission.bash: "deny"',
    file: (scope, machine) => (client && findConfigFile(client, scope, machine)) ?? '',
    isOff: (text) => getJson(text, ['permission', 'bash']) === 'deny',
    turn: (text, state) =>
      state === 'off'
        ? setJson(text, ['permission', 'bash'], 'deny')
        : removeJson(text, ['permission', 'bash']),
  };
}

function deniedIn(text: string): readonly unknown[] {
  const list = getJson(text, ['permissions', 'deny']);
  return Array.isArray(list) ? list : [];
}
