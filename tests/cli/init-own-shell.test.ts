import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { useHome } from '../support/use-home.ts';

const { at, nacre, put, read } = useHome();
const flags = ['--preset', 'git', '--sandbox', 'off', '--yes'];
const off = ['--own-shell', 'off'];
const on = ['--own-shell', 'on'];
const denied = () => JSON.parse(read('.claude/settings.json').replace('// mine', '')).permissions.deny;

describe('nacre init --own-shell', () => {
  it("--yes alone leaves the client's own shell on, and says how to turn it off", async () => {
    const { stdout } = await nacre('init', 'claude-code', ...flags);
    expect(stdout).toContain('nacre init claude-code --own-shell off turns it off');
    expect(existsSync(at('.claude/settings.json'))).toBe(false);
  });

  it('adds Bash to the denied tools of Claude Code, keeps the rest, and removes it again', async () => {
    const before = '{\n  // mine\n  "permissions": { "deny": ["WebFetch"], "allow": ["Read"] }\n}\n';
    put('.claude/settings.json', before);
    const { stdout } = await nacre('init', 'claude-code', ...flags, ...off);
    expect(denied()).toEqual(['WebFetch', 'Bash']);
    expect(read('.claude/settings.json')).toMatch(/^\{\n {2}\/\/ mine\n.*"allow": \["Read"\] \}\n\}\n$/s);
    expect(stdout).toContain("Claude Code's own shell is now off.");
    expect((await nacre('init', 'claude-code', ...flags)).stdout).toContain("Claude Code's own shell is off");
    expect((await nacre('init', 'claude-code', '--remove')).stdout).toContain('is still off');
    expect((await nacre('init', 'claude-code', '--remove', ...on)).stdout).toContain('is now on');
    expect(denied()).toEqual(['WebFetch']);
  });

  it('turns off the shell feature of Codex in the file of the entry', async () => {
    put('.codex/config.toml', 'model = "x"\n\n[features]\nweb_search = true # mine\n');
    expect((await nacre('init', 'codex', ...flags, ...off)).code).toBe(0);
    expect(read('.codex/config.toml')).toContain(
      '[features]\nweb_search = true # mine\nshell_tool = false\n',
    );
    expect(read('.codex/config.toml')).toContain('[mcp_servers.nacre]');
    await nacre('init', 'codex', ...flags, ...on);
    expect(read('.codex/config.toml')).toContain('shell_tool = true\n');
  });

  it('writes a policy file for Gemini CLI, for all projects or for one', async () => {
    await nacre('init', 'gemini', ...flags, ...off);
    expect(read('.gemini/policies/nacre.toml')).toBe(
      '[[rule]]\ntoolName = "run_shell_command"\ndecision = "deny"\npriority = 999\n',
    );
    await nacre('init', 'gemini', ...flags, ...on);
    expect(read('.gemini/policies/nacre.toml')).toBe('');
  });

  it.each(['vscode', 'cursor', 'claude-desktop'])('writes nothing for %s, and says why', async (client) => {
    const { code, stderr } = await nacre('init', client, ...flags, ...off, '--file', 'config');
    expect([code, stderr]).toEqual([
      125,
      expect.stringMatching(/--own-shell: (VS Code|Cursor|Claude Desktop) /),
    ]);
    expect([existsSync(at('config')), existsSync(at('.config/nacre/config.yaml'))]).toEqual([false, false]);
  });

  it('refuses a file in a form that it cannot edit, before anything is written', async () => {
    put('.codex/config.toml', 'features.web_search = true\n');
    const { code, stderr } = await nacre('init', 'codex', ...flags, ...off);
    expect([code, stderr]).toEqual([125, expect.stringContaining('.codex/config.toml cannot be edited')]);
    expect(read('.codex/config.toml')).toBe('features.web_search = true\n');
    expect(existsSync(at('.config/nacre/config.yaml'))).toBe(false);
  });
});
