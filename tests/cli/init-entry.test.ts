import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { examineClients } from '../../src/doors/cli/doctor/examine-clients.ts';
import { builtCli } from '../support/build.ts';
import { createTestDeps } from '../support/door-deps.ts';
import { fromToml } from '../support/from-toml.ts';
import { runInProcess, startInProcess } from '../support/nacre.ts';
import { needLevel } from '../support/needs.ts';
import { pathWithout } from '../support/path-without.ts';
import { useHome } from '../support/use-home.ts';

const { at, nacre, place, put, read, setEnv } = useHome();
const node = process.execPath;

describe('the entry that nacre init writes', () => {
  it('replaces the given values, and keeps keys that the user added', async () => {
    await nacre('init', 'claude-code', '--project', '.', '--preset', 'git', '--sandbox', 'off');
    const document = JSON.parse(read('.claude.json'));
    const entry = document.mcpServers.nacre;
    document.mcpServers.nacre = {
      ...entry,
      timeout: 60,
      args: [...entry.args, '--tools', 'all'],
      env: { ...entry.env, NACRE_NETWORK: 'on' },
    };
    writeFileSync(at('.claude.json'), JSON.stringify(document, null, 2));
    mkdirSync(at('other'));
    await nacre('init', 'claude-code', '--project', 'other', '--preset', 'none', '--allow', 'make');
    expect(JSON.parse(read('.claude.json')).mcpServers.nacre).toEqual({
      type: 'stdio',
      command: node,
      args: [builtCli, 'mcp', '--cwd', at('other'), '--tools', 'all'],
      env: {
        ALLOWED_CWD_ROOTS: at('other'),
        ALLOWED_COMMANDS: 'make',
      },
      timeout: 60,
    });
    expect(read('.config/nacre/config.yaml')).toBe('preset: git\nsandbox: off\nnetwork: on\n');
    await nacre('init', 'claude-code');
    expect(JSON.parse(read('.claude.json')).mcpServers.nacre.env).toMatchObject({ ALLOWED_COMMANDS: 'make' });
  });

  it('keeps comments between the variables', async () => {
    const text = (variables: string) =>
      `{ "mcpServers": { "nacre": { "command": "${node}", "args": ["${builtCli}", "mcp"],\n  "env": {\n    // mine\n    "A": "x", /* b */\n${variables}  }\n} } }\n`;
    put('.gemini/settings.json', text('    "ALLOWED_COMMANDS": "ls", // old\n    "NACRE_SANDBOX": "off"\n'));
    expect((await nacre('init', 'gemini', '--preset', 'git')).code).toBe(0);
    expect(read('.gemini/settings.json')).toBe(text('    // old\n').replace('"x", /*', '"x" /*'));
    expect(read('.config/nacre/config.yaml')).toBe('preset: git\nsandbox: off\n');
  });

  it('replaces flags in the entry that would override new values', async () => {
    const own = ['mcp', '--cwd=/', '--allow', 'ls', '--allow=cat', '--tools', 'all', '--network', 'off'];
    put('.gemini/settings.json', JSON.stringify({ mcpServers: { nacre: { command: 'npx', args: own } } }));
    const entry = () => JSON.parse(read('.gemini/settings.json')).mcpServers.nacre;
    await nacre('init', 'gemini');
    expect(entry()).toMatchObject({
      args: [builtCli, 'mcp', '--cwd', '/', '--tools', 'all'],
      env: { ALLOWED_CWD_ROOTS: '/' },
    });
    expect(read('.config/nacre/config.yaml')).toBe('allowed_commands: [ls, cat]\nnetwork: off\n');
    await nacre('init', 'gemini', '--project', '.', '--preset', 'git', '--network', 'on');
    expect(entry().args).toEqual([builtCli, 'mcp', '--cwd', place().cwd, '--tools', 'all']);
    expect(entry().env).toEqual({
      ALLOWED_CWD_ROOTS: place().cwd,
      ALLOWED_COMMANDS: 'ls,cat',
      NACRE_PRESET: 'git',
      NACRE_NETWORK: 'on',
    });
  });

  it('proposes a list for an entry that has variables but no list', async () => {
    put('.gemini/settings.json', '{"mcpServers": {"nacre": {"command": "x", "env": {"A": "1"}}}}');
    expect((await nacre('init', 'gemini')).stdout).toContain('commands  the preset dev');
    const { env } = JSON.parse(read('.gemini/settings.json')).mcpServers.nacre;
    expect(env).toEqual({ A: '1' });
    expect(read('.config/nacre/config.yaml')).toBe('preset: dev\n');
  });

  it('keeps an empty list, and shows that nothing may run', async () => {
    put('.config/nacre/config.yaml', 'allowed_commands: [git]\n');
    put('.gemini/settings.json', '{"mcpServers": {"nacre": {"env": {"ALLOWED_COMMANDS": ""}}}}');
    expect((await nacre('init', 'gemini')).stdout).toContain('commands  nothing (in the entry)\n');
    expect(JSON.parse(read('.gemini/settings.json')).mcpServers.nacre.env).toEqual({ ALLOWED_COMMANDS: '' });
    const { findings } = examineClients(await createTestDeps([], place()));
    expect(findings[0]?.found).toContain('the list in the entry is empty, so no program may run');
  });

  it('leaves the sandbox off if none is available, and shows how to turn it on later', async () => {
    const bin = pathWithout(place().cwd, { hidden: ['bwrap'] });
    const { stdout } = await runInProcess(['init', 'codex'], {
      ...place(),
      env: { ...place().env, PATH: bin, NACRE_PROCESSES: 'own' },
    });
    expect(fromToml(read('.codex/config.toml')).nacre.env).toEqual({});
    expect(read('.config/nacre/config.yaml')).toBe('preset: dev\n');
    expect(stdout).toMatch(/No sandbox works here: .* nacre init --sandbox workspace turns it on\./);
    await nacre('init', 'codex', '--sandbox', 'workspace');
    expect(fromToml(read('.codex/config.toml')).nacre.env).toEqual({});
    expect(read('.config/nacre/config.yaml')).toBe('preset: dev\nsandbox: workspace\n');
  });

  it('writes a preset and additional programs as given', async () => {
    const args = [
      'init',
      '--print',
      '--preset',
      'git',
      '--allow',
      'docker',
      '--allow',
      'make',
      '--sandbox',
      'off',
    ];
    expect(JSON.parse((await nacre(...args)).stdout).mcpServers.nacre.env).toEqual({
      NACRE_PRESET: 'git',
      ALLOWED_COMMANDS: 'docker,make',
      NACRE_SANDBOX: 'off',
    });
  });

  it('names the settings file that --config gives', async () => {
    put('mine.yaml', 'allowed_commands: [git]\nsandbox: strict\n');
    const args = ['init', '--print', '--config', 'mine.yaml'];
    expect(JSON.parse((await nacre(...args)).stdout).mcpServers.nacre).toEqual({
      command: node,
      args: [builtCli, 'mcp', '--config', at('mine.yaml')],
      env: {},
    });
  });

  it('proposes a preset for the folder, unless the settings file has a list', async () => {
    const preset = async () =>
      JSON.parse((await nacre('init', '--print', '--sandbox', 'off')).stdout).mcpServers.nacre.env;
    expect(await preset()).toEqual({ NACRE_PRESET: 'dev', NACRE_SANDBOX: 'off' });
    put('requirements.txt', '');
    expect(await preset()).toMatchObject({ NACRE_PRESET: 'dev-python' });
    put('package.json', '{}');
    expect(await preset()).toMatchObject({ NACRE_PRESET: 'dev' });
    put('.config/nacre/config.yaml', 'allowed_commands: [git]\nsandbox: strict\n');
    const { stdout } = await nacre('init', 'claude-code');
    expect(JSON.parse(read('.claude.json')).mcpServers.nacre.env).toEqual({});
    expect(stdout).toContain('commands  git (in your settings file)');
    setEnv({ ALLOWED_COMMANDS: 'ls' });
    expect(await preset()).toEqual({ NACRE_SANDBOX: 'off' });
  });

  it('prints for a Node project the entry that the README shows', async (context) => {
    await needLevel(context, 'namespace');
    put('package.json', '{}');
    const [, shown = '{}'] = readFileSync('README.md', 'utf8').split(/```json\n([^`]*)```/);
    const { env } = JSON.parse((await nacre('init', '--print')).stdout).mcpServers.nacre;
    expect(env).toEqual(JSON.parse(shown).mcpServers.nacre.env);
  });

  it('writes other settings given as flags, with absolute paths', async () => {
    const { stdout } = await nacre(
      'init',
      '--print',
      '--preset',
      'none',
      '--allow',
      'git,ls',
      '--sandbox',
      'off',
      '--network-allow',
      'a.example,b.example',
      '--state-dir',
      'state',
      '--workspace',
      'a, b ,',
    );
    expect(JSON.parse(stdout).mcpServers.nacre.env).toEqual({
      ALLOWED_COMMANDS: 'git,ls',
      NACRE_SANDBOX: 'off',
      NACRE_NETWORK_ALLOW: 'a.example,b.example',
      NACRE_STATE_DIR: at('state'),
      NACRE_WORKSPACE: `${at('a')},${at('b')}`,
    });
  });
});

describe('nacre init with answers', () => {
  async function answer(argv: readonly string[], answers: readonly [RegExp, string][]) {
    const started = startInProcess(['init', ...argv], place());
    for (const end of [started.stdin, started.stdout]) Object.assign(end, { isTTY: true });
    for (const [question, text] of answers) {
      await expect.poll(started.out.text, { timeout: 10_000 }).toMatch(question);
      started.stdin.write(text);
    }
    return started;
  }

  it('accepts answers, asks again after an invalid one, and proposes the existing values', async () => {
    mkdirSync(at('work'));
    const first = await answer(
      ['claude-code'],
      [
        [/Folder that commands run in \[the working folder of Claude Code\]: /, 'nowhere\n'],
        [/nowhere is not a folder\./, '~/work\n'],
        [/Programs that may run.*\[dev\]: /, ', ,\n'],
        [/names no program\./, 'dev node\n'],
        [/dev node is not a preset\. Did you mean dev-node\?/, 'git ls\n'],
        [/Sandbox: /, 'total\n'],
        [/total is not one of/, 'off\n'],
        [/Turn it off \(permissions\.deny.*\[no\]: /, 'perhaps\n'],
        [/Answer yes or no\./, '\n'],
      ],
    );
    expect((await first.ended).code).toBe(0);
    const entry = () => JSON.parse(read('.claude.json')).mcpServers.nacre;
    expect(entry().args).toEqual([builtCli, 'mcp', '--cwd', at('work')]);
    const settings = () => read('.config/nacre/config.yaml');
    expect(settings()).toBe('allowed_commands: [git, ls]\nsandbox: off\n');
    const second = await answer(
      ['claude-code'],
      [
        [/work\]: /, '\n'],
        [/Programs.*\[from your settings file\]: /, 'dev-node\n'],
        [/Sandbox.*\[from your settings file\]: /, '\n'],
        [/Turn it off/, 'yes\n'],
      ],
    );
    expect((await second.ended).code).toBe(0);
    expect(JSON.parse(read('.claude/settings.json'))).toEqual({ permissions: { deny: ['Bash'] } });
    expect(entry().env).toEqual({
      ALLOWED_CWD_ROOTS: at('work'),
      ALLOWED_COMMANDS: 'git,ls',
      NACRE_PRESET: 'dev-node',
    });
    expect(settings()).toBe('allowed_commands: [git, ls]\nsandbox: off\n');
  });

  it('writes nothing at end of input or on SIGTERM', async () => {
    const leave = await answer(['claude-code'], [[/Folder/, '']]);
    leave.stdin.end();
    const interrupted = await answer(['claude-code'], [[/Folder/, '']]);
    interrupted.interrupt('SIGTERM');
    for (const { ended } of [leave, interrupted])
      expect(await ended).toMatchObject({
        code: 130,
        stderr: expect.stringContaining('No answer was given'),
      });
    expect(existsSync(at('.claude.json'))).toBe(false);
  });
});
