import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { describeRemoval, toRemoval } from '../../src/doors/control/uninstall/describe-package.ts';
import { connect } from '../support/mcp.ts';
import { runInProcess } from '../support/nacre.ts';
import { commandLine } from '../support/processes.ts';
import { openTerminal } from '../support/terminal.ts';
import { useHome } from '../support/use-home.ts';

const { at, nacre, place, put, read, setEnv } = useHome();

const other =
  '{\n  // mine\n  "theme": "dark",\n  "mcpServers": {\n    "other": { "command": "x" }\n  }\n}\n';

/** A home with nacre in two clients, a state folder, a token, settings and a user unit. */
async function install() {
  put('.claude.json', other);
  put('.codex/config.toml', '# mine\nmodel = "x"\n');
  for (const client of ['claude-code', 'codex'])
    expect(await nacre('init', client, '--yes', '--allow', 'ls')).toMatchObject({ code: 0 });
  put('.config/nacre/config.yaml', 'allowed_commands: [ls]\n');
  put('.config/nacre/token', 'a1b2c3d4e5f6a1b2c3d4\n');
  put('.config/systemd/user/nacre.service', '[Service]\n');
  await nacre('run', 'ls');
  expect(read('.claude.json')).toContain('"nacre"');
}

describe('nacre uninstall', () => {
  it('removes entries, state, token, settings and unit, and nothing else', async () => {
    await install();
    const { code, stdout, stderr } = await nacre('uninstall', '--yes');
    expect(stdout).toContain(`removed the entry of Claude Code (${at('.claude.json')})\n`);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(read('.claude.json')).toBe(other);
    expect(read('.codex/config.toml')).toBe('# mine\nmodel = "x"\n');
    for (const path of ['.local/state/nacre', '.config/nacre', '.config/systemd/user/nacre.service'])
      expect(existsSync(at(path)), path).toBe(false);
    expect(stdout).toContain(`${at('.claude.json')}: the entry of Claude Code`);
    expect(stdout).toContain('systemctl --user daemon-reload');
    expect(stdout).toMatch(/The package itself is the folder \S.*\n$/);
    expect((await nacre('uninstall', '--yes')).stdout).toContain('There is nothing to remove.');
  });

  it('removes kept changes, including those next to a workspace on another mount, and nothing that only looks like them', async () => {
    await install();
    put('disk/.nacre-changes-0/entries/cmd_1/notes.json', '{}');
    put('disk/papers/thesis.txt', 'mine');
    put('.local/state/nacre/changes/layers/a/work/b', '');
    mkdirSync(at('.local/state/nacre/changes/places'));
    symlinkSync(at('disk/.nacre-changes-0'), at('.local/state/nacre/changes/places/1'));
    symlinkSync(at('disk/papers'), at('.local/state/nacre/changes/places/2'));
    chmodSync(at('.local/state/nacre/changes/layers/a/work'), 0);
    expect(await nacre('uninstall', '--yes')).toMatchObject({ code: 0, stderr: '' });
    expect(existsSync(at('.local/state/nacre'))).toBe(false);
    expect(readdirSync(at('disk'))).toEqual(['papers']);
    expect(readdirSync(at('disk/papers'))).toEqual(['thesis.txt']);
  });

  it('names the clients that are left without a shell, and how to turn their own on', async () => {
    await install();
    await nacre('init', 'codex', '--yes', '--own-shell', 'off');
    await nacre('init', 'gemini', '--yes', '--own-shell', 'off');
    put('.claude/settings.json', '{"permissions":{"deny":["Read(.env)"]}}');
    const { code, stdout } = await nacre('uninstall', '--yes');
    expect(code).toBe(0);
    const path = at('.codex/config.toml');
    const codex = `The own shell of Codex is off (${path}); nacre init codex --remove --own-shell on turns it on.`;
    expect(stdout.split(codex)).toHaveLength(3);
    expect(stdout).toContain('nacre init gemini --remove --own-shell on');
    expect(stdout).not.toContain('own shell of Claude');
    expect(stdout).toContain(`removed the entry of Codex (${path})\n`);
    await nacre('init', 'codex', '--remove', '--own-shell', 'on');
    expect(read('.codex/config.toml')).toContain('shell_tool = true');
    expect((await nacre('uninstall', '--yes')).stdout).not.toContain('own shell');
  });

  it('refuses without a terminal and --yes, after it has shown what it would remove', async () => {
    await install();
    const { code, stdout, stderr } = await nacre('uninstall');
    expect(code).toBe(125);
    expect(stdout).toContain(`${at('.local/state/nacre')}: the state folder`);
    expect(stderr).toContain('stdin is not a terminal');
    expect(existsSync(at('.local/state/nacre'))).toBe(true);
    expect(read('.claude.json')).toContain('"nacre"');
  });

  it('asks at a terminal; anything but yes removes nothing', async () => {
    await install();
    for (const [answer, isRemoved] of [
      ['\r', false],
      ['n\r', false],
      ['y\r', true],
    ] as const) {
      const terminal = openTerminal(['uninstall'], place());
      await terminal.shows(/Remove all of this\? \[y\/N\]/);
      terminal.type(answer);
      expect(await terminal.ended).toBe(0);
      expect(terminal.text().includes('Nothing was removed.')).toBe(!isRemoved);
      expect(existsSync(at('.config/nacre/config.yaml'))).toBe(!isRemoved);
    }
  });

  it('keeps the settings with --keep-settings, and what nacre did not create', async () => {
    await install();
    put('.local/state/nacre/notes.txt', 'mine');
    put('.config/nacre/team.yaml', 'danger: block\n');
    const { code, stderr } = await nacre('uninstall', '--yes', '--keep-settings');
    expect(code).toBe(1);
    expect(stderr).toContain('it also contains notes.txt, which nacre did not create');
    expect(readdirSync(at('.local/state/nacre'))).toEqual(['notes.txt']);
    expect(readdirSync(at('.config/nacre')).sort()).toEqual(['config.yaml', 'team.yaml']);
  });

  it('never removes what a setting names by mistake, or the target of a link', async () => {
    put('papers/thesis.txt', 'ten years of work\n');
    put('key', 'not a token at all\n');
    setEnv({ NACRE_STATE_DIR: at('papers'), NACRE_TOKEN_FILE: at('key') });
    await nacre('run', 'ls');
    symlinkSync(at('papers/thesis.txt'), at('papers/workflows'));
    expect((await nacre('uninstall', '--yes')).code).toBe(1);
    expect(readFileSync(at('papers/thesis.txt'), 'utf8')).toBe('ten years of work\n');
    expect(readdirSync(at('papers'))).toEqual(['thesis.txt']);
    expect(existsSync(at('key'))).toBe(true);
  });

  it('finds the entries of projects that commands ran in', async () => {
    put('app/.cursor/mcp.json', '{}\n');
    put('app/src/a.txt', '');
    const project = { ...place(), cwd: at('app') };
    expect((await runInProcess(['init', 'cursor', '--yes', '--allow', 'ls'], project)).code).toBe(0);
    await nacre('run', '--cwd', at('app/src'), 'ls');
    expect((await nacre('uninstall', '--yes')).code).toBe(0);
    expect(read('app/.cursor/mcp.json')).not.toContain('nacre');
  });

  it('works with invalid settings, and reports a client file that it cannot edit', async () => {
    await install();
    put('.config/nacre/config.yaml', 'danger: maybe\n');
    put('.gemini/settings.json', '{ "broken": ');
    const { code, stdout } = await nacre('uninstall', '--yes');
    expect(code).toBe(0);
    expect(stdout).toContain('your settings are invalid');
    expect(stdout).toMatch(/To be kept:[\s\S]*Gemini CLI: /);
    expect(read('.gemini/settings.json')).toBe('{ "broken": ');
    expect(existsSync(at('.config/nacre'))).toBe(false);
  });

  it('ends running servers', async () => {
    const server = await connect({ env: { ALLOWED_COMMANDS: 'sleep' } });
    await server.use('start_command', { command: 'sleep 60' });
    const here = { cwd: server.cwd, env: server.env };
    await expect
      .poll(async () => (await runInProcess(['status'], here)).stdout, { timeout: 10_000 })
      .toContain('mcp');
    const { code, stdout } = await runInProcess(['uninstall', '--yes'], here);
    expect(code).toBe(0);
    const pid = Number(/(\d+) \(mcp/.exec(stdout)?.[1]);
    // An ended process has no command line, even before its parent reaps it.
    expect(commandLine(pid)).toBe('');
    expect(stdout).toMatch(/Running servers to end:\n {2}\d+ \(mcp, for /);
    expect(stdout).toContain('ended 1 server\n');
    expect(existsSync(join(server.cwd, '.local/state/nacre'))).toBe(false);
    expect(await server.close()).toEqual([]);
  });
});

describe('toRemoval', () => {
  it.each([
    ['/usr/local/lib/node_modules/nacre/dist/cli.js', 'npm uninstall --global --prefix /usr/local nacre'],
    ['/home/me/.npm/_npx/ab12/node_modules/nacre/dist/cli.js', 'rm -r /home/me/.npm/_npx/ab12'],
    ['/home/me/app/node_modules/nacre/dist/cli.js', 'npm uninstall --prefix /home/me/app nacre'],
    ['/home/me/my src/nacre/dist/cli.js', undefined],
  ])('%s: %s', (script, command) => {
    expect(toRemoval(script)).toBe(command);
  });

  it('also removes the link to a clone that npm installed', () => {
    put('src/dist/cli.js', '');
    put('prefix/bin/other', '');
    chmodSync(at('src/dist/cli.js'), 0o755);
    symlinkSync(at('src/dist/cli.js'), at('prefix/bin/nacre'));
    const describeWith = (PATH: string) =>
      describeRemoval({
        program: { node: '/usr/bin/node', script: at('src/dist/cli.js') },
        machine: { home: at(''), platform: 'linux', env: { PATH }, isRoot: false },
      });
    const folder = `The package itself is the folder ${at('src')}; delete it if you no longer need it.`;
    expect(describeWith('/usr/bin')).toBe(folder);
    expect(describeWith(`/usr/bin:${at('prefix/bin')}`)).toBe(
      `To remove the command nacre, run: npm uninstall --global --prefix ${at('prefix')} nacre\n${folder}`,
    );
  });
});
