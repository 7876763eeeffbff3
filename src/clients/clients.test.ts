import { describe, expect, it } from 'vitest';
import { clients } from './clients.ts';

const at = (name: string, scope: 'user' | 'project', platform: string, env = {}) =>
  clients[name]?.files(scope, { home: '/home/me', platform, env, project: '/work' })[0];

describe('the configuration file of a client', () => {
  it.each([
    ['linux', '/home/me/.config'],
    ['darwin', '/home/me/Library/Application Support'],
    ['win32', '/home/me/AppData/Roaming'],
  ])('is in the application folder on %s: %s', (platform, folder) => {
    expect(at('claude-desktop', 'user', platform)).toBe(`${folder}/Claude/claude_desktop_config.json`);
    expect(at('vscode', 'user', platform)).toBe(`${folder}/Code/User/mcp.json`);
  });

  it('follows environment variables that move it', () => {
    expect(at('claude-desktop', 'user', 'win32', { APPDATA: '/data' })).toMatch(/^\/data\/Claude/);
    expect(at('vscode', 'user', 'linux', { XDG_CONFIG_HOME: '/xdg' })).toBe('/xdg/Code/User/mcp.json');
    expect(at('vscode', 'user', 'linux', { XDG_CONFIG_HOME: 'xdg' })).toBe(
      '/home/me/.config/Code/User/mcp.json',
    );
    expect(at('gemini', 'user', 'linux', { GEMINI_CLI_HOME: '/gem' })).toBe('/gem/.gemini/settings.json');
    expect(at('codex', 'user', 'linux', { CODEX_HOME: '/codex' })).toBe('/codex/config.toml');
    expect(at('claude-code', 'user', 'linux', { CLAUDE_CONFIG_DIR: '/claude' })).toBe('/claude/.claude.json');
  });

  it.each([
    ['claude-code', '/work/.mcp.json'],
    ['claude-desktop', undefined],
    ['cursor', '/work/.cursor/mcp.json'],
    ['vscode', '/work/.vscode/mcp.json'],
    ['codex', '/work/.codex/config.toml'],
    ['gemini', '/work/.gemini/settings.json'],
    ['qwen', '/work/.qwen/settings.json'],
    ['copilot', '/work/.github/mcp.json'],
    ['opencode', '/work/opencode.json'],
    ['kilo', '/work/kilo.json'],
    ['cline', undefined],
    ['continue', undefined],
  ])('of %s is %s for project scope', (name, path) => {
    expect(at(name, 'project', 'linux')).toBe(path);
  });
});
