import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterEach, describe, expect, it } from 'vitest';
import { openConfigFile } from '../../src/clients/config-file.ts';
import { builtCli } from '../support/build.ts';
import { createPlace, runInProcess, startInProcess, survivors } from '../support/nacre.ts';
import { pathWithout } from '../support/path-without.ts';

let place = createPlace();
const nacre = (...argv: string[]) => runInProcess(argv, place);
const at = (path: string) => join(place.cwd, path);
const read = (path: string) => readFileSync(at(path), 'utf8');
const backups = () => {
  const folder = at('.local/state/nacre/backups');
  return existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : [];
};

afterEach(async () => {
  expect(await survivors(place.mark)).toEqual([]);
  place = createPlace();
});

function put(path: string, text: string): void {
  mkdirSync(dirname(at(path)), { recursive: true });
  writeFileSync(at(path), text);
}

const flags = ['--allow', 'git,ls', '--sandbox', 'off'];
const node = process.execPath;
const env = '"ALLOWED_COMMANDS": "git,ls",\n        "NACRE_SANDBOX": "off"';

describe('nacre init', () => {
  it('adds Claude Code for all projects of its user, in a file full of other things', async () => {
    const before = `{
  "numStartups": 42,
  "projects": {
    "/home/me/app": {
      "mcpServers": { "nacre": { "command": "somebody else's" } },
      "history": [{ "display": "say \\"hi\\" // no comment" }]
    }
  },
  "mcpServers": {
    "github": { "type": "http", "url": "https://example.com/mcp", "headers": {"X": "\${TOKEN}"} }
  },
  "userID": "abc"
}`;
    put('.claude.json', before);
    chmodSync(at('.claude.json'), 0o600);
    const { code, stdout } = await nacre('init', 'claude-code', ...flags);
    expect([code, stdout]).toEqual([0, expect.stringContaining(`${at('.claude.json')} was written.`)]);
    expect(read('.claude.json')).toBe(
      before.replace(
        'TOKEN}"} }\n',
        `TOKEN}"} },
    "nacre": {
      "type": "stdio",
      "command": "${node}",
      "args": [
        "${builtCli}",
        "mcp"
      ],
      "env": {
        ${env}
      }
    }
`,
      ),
    );
    expect(statSync(at('.claude.json')).mode & 0o777).toBe(0o600);
    expect(backups().map((path) => readFileSync(path, 'utf8'))).toEqual([before]);
    expect(stdout).toContain(`The file as it was: ${backups()[0]}`);
  });

  it('adds Claude Desktop with the folder that it cannot know, where the platform keeps its file', async () => {
    const before = '{\r\n\t"globalShortcut": "Ctrl+Space",\r\n\t"mcpServers": {}\r\n}\r\n';
    put('.config/Claude/claude_desktop_config.json', `\ufeff${before}`);
    expect((await nacre('init', 'claude-desktop', ...flags)).code).toBe(0);
    const text = read('.config/Claude/claude_desktop_config.json');
    expect(
      text.startsWith(
        '\ufeff{\r\n\t"globalShortcut": "Ctrl+Space",\r\n\t"mcpServers": {\r\n\t\t"nacre": {\r\n',
      ),
    ).toBe(true);
    expect(text.replaceAll('\r\n', '')).not.toMatch(/[\r\n]/);
    expect(JSON.parse(text.slice(1)).mcpServers.nacre).toEqual({
      command: node,
      args: [builtCli, 'mcp', '--cwd', place.cwd],
      env: { ALLOWED_CWD_ROOTS: place.cwd, ALLOWED_COMMANDS: 'git,ls', NACRE_SANDBOX: 'off' },
    });
    const project = await nacre('init', 'claude-desktop', '--scope', 'project');
    expect([project.code, project.stderr]).toEqual([
      125,
      expect.stringContaining('has no configuration for one project'),
    ]);
  });

  it('adds Cursor in the project, beside an entry that is written on one line', async () => {
    put('.cursor/mcp.json', '{"mcpServers":{"db":{"command":"npx","args":["-y","db"]}}}');
    expect((await nacre('init', 'cursor', ...flags)).code).toBe(0);
    const text = read('.cursor/mcp.json');
    expect(
      text.startsWith('{"mcpServers":{"db":{"command":"npx","args":["-y","db"]}, "nacre": {"command":'),
    ).toBe(true);
    expect(JSON.parse(text).mcpServers.nacre.args).toEqual([builtCli, 'mcp', '--cwd', place.cwd]);
  });

  it('adds VS Code under servers, with comments and commas at the end left alone', async () => {
    put(
      '.vscode/mcp.json',
      `{
    // shared by the team
    "inputs": [
        { "type": "promptString", "id": "key", "description": "Key", "password": true },
    ],
    "servers": {
        "perplexity": {
            "type": "stdio",
            "command": "npx", // from npm
            "env": { "API_KEY": "\${input:key}" },
        }, /* keep */
        // "old": {}
    },
}
`,
    );
    const before = read('.vscode/mcp.json');
    expect((await nacre('init', 'vscode', ...flags)).code).toBe(0);
    const [head = '', tail = ''] = before.split(' /* keep */\n');
    const text = read('.vscode/mcp.json');
    expect(text.startsWith(`${head} /* keep */\n        "nacre": {\n            "type": "stdio",\n`)).toBe(
      true,
    );
    expect(text.endsWith(`\n        },\n${tail}`)).toBe(true);
  });

  it('adds Codex as a table of its own', async () => {
    const before =
      '# mine\nmodel = "gpt-5"\n\n[mcp_servers.docs]\ncommand = "npx"\nargs = ["-y", "docs"] # all\n';
    put('.codex/config.toml', before);
    expect((await nacre('init', 'codex', ...flags)).code).toBe(0);
    expect(read('.codex/config.toml')).toBe(
      `${before}\n[mcp_servers.nacre]\ncommand = "${node}"\nargs = ["${builtCli}", "mcp"]\nenv = { ALLOWED_COMMANDS = "git,ls", NACRE_SANDBOX = "off" }\n`,
    );
    const written = read('.codex/config.toml');
    const told = await nacre('init', 'codex', '--print', '--remove');
    expect(told.stdout).toBe(
      `Codex would no longer start nacre: its entry would be removed from ${at('.codex/config.toml')}. Nothing was written.\n`,
    );
    expect([told.code, read('.codex/config.toml')]).toEqual([0, written]);
    const { stdout } = await nacre('init', 'codex', '--remove');
    expect(stdout).toContain('Codex no longer starts nacre');
    expect(read('.codex/config.toml')).toBe(before);
  });

  it('adds Gemini CLI to its settings', async () => {
    const before = '{\n  "theme": "GitHub", // mine\n  "mcp": { "allowed": ["nacre"] }\n}\n';
    put('.gemini/settings.json', before);
    expect((await nacre('init', 'gemini', ...flags)).code).toBe(0);
    expect(read('.gemini/settings.json').startsWith(before.slice(0, -3))).toBe(true);
    await nacre('init', 'gemini', '--remove');
    expect(read('.gemini/settings.json')).toBe(
      '{\n  "theme": "GitHub", // mine\n  "mcp": { "allowed": ["nacre"] },\n  "mcpServers": {\n  }\n}\n',
    );
  });

  it('makes what does not exist, also where the variables of a client point', async () => {
    place = createPlace({ CODEX_HOME: '/nowhere', CLAUDE_CONFIG_DIR: '/nowhere' });
    place = { ...place, env: { ...place.env, CODEX_HOME: at('x/codex'), CLAUDE_CONFIG_DIR: at('x/claude') } };
    for (const client of ['codex', 'claude-code'])
      expect((await nacre('init', client, ...flags)).code).toBe(0);
    expect([existsSync(at('x/codex/config.toml')), existsSync(at('x/claude/.claude.json'))]).toEqual([
      true,
      true,
    ]);
    expect(backups()).toEqual([]);
  });

  it.each(['claude-code', 'claude-desktop', 'cursor', 'vscode', 'codex', 'gemini'])(
    '%s can use what was written, and a second time changes nothing',
    async (client) => {
      expect((await nacre('init', client, '--file', 'config', '--project', '.', ...flags)).code).toBe(0);
      const first = read('config');
      const again = await nacre('init', client, '--file', 'config', '--project', '.', ...flags);
      expect(again.stdout).toContain('says this already; nothing was written.');
      expect([read('config'), backups()]).toEqual([first, []]);
      const args = ['init', client, '--print', '--project', '.', ...flags];
      expect((await nacre(...args)).stdout).toBe(first);
      const reply = await useEntry(
        client === 'codex' ? fromToml(first) : Object.values(JSON.parse(first))[0],
      );
      expect(reply).toMatchObject({ exit_code: 0, stdout: expect.stringContaining('config') });
      expect((await nacre('init', client, '--file', 'config', '--remove')).code).toBe(0);
      expect(read('config')).not.toContain(builtCli);
    },
  );

  it('changes what is given anew, and keeps what its user has added to the entry', async () => {
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
    await nacre('init', 'claude-code', '--project', 'other', '--allow', 'make');
    expect(JSON.parse(read('.claude.json')).mcpServers.nacre).toEqual({
      type: 'stdio',
      command: node,
      args: [builtCli, 'mcp', '--cwd', at('other'), '--tools', 'all'],
      env: {
        NACRE_SANDBOX: 'off',
        NACRE_NETWORK: 'on',
        ALLOWED_CWD_ROOTS: at('other'),
        ALLOWED_COMMANDS: 'make',
      },
      timeout: 60,
    });
    await nacre('init', 'claude-code');
    expect(JSON.parse(read('.claude.json')).mcpServers.nacre.env).toMatchObject({ ALLOWED_COMMANDS: 'make' });
  });

  it('leaves comments among the variables where they are', async () => {
    const text = (variables: string) =>
      `{ "mcpServers": { "nacre": { "command": "${node}", "args": ["${builtCli}", "mcp"],\n  "env": {\n    // mine\n    "A": "x", /* b */\n${variables}  }\n} } }\n`;
    put('.gemini/settings.json', text('    "ALLOWED_COMMANDS": "ls", // old\n    "NACRE_SANDBOX": "off"\n'));
    expect((await nacre('init', 'gemini', '--preset', 'git')).code).toBe(0);
    expect(read('.gemini/settings.json')).toBe(
      text('    // old\n    "NACRE_SANDBOX": "off",\n    "NACRE_PRESET": "git"\n'),
    );
  });

  it('takes what is given anew in place of flags in the entry, which would outrank it', async () => {
    const own = ['mcp', '--cwd=/', '--allow', 'ls', '--allow=cat', '--tools', 'all', '--network', 'off'];
    put('.gemini/settings.json', JSON.stringify({ mcpServers: { nacre: { command: 'npx', args: own } } }));
    const entry = () => JSON.parse(read('.gemini/settings.json')).mcpServers.nacre;
    await nacre('init', 'gemini');
    expect(entry()).toMatchObject({
      args: [builtCli, 'mcp', '--cwd', '/', '--tools', 'all', '--network', 'off'],
      env: { ALLOWED_COMMANDS: 'ls,cat' },
    });
    await nacre('init', 'gemini', '--project', '.', '--preset', 'git', '--network', 'on');
    expect(entry().args).toEqual([builtCli, 'mcp', '--cwd', place.cwd, '--tools', 'all']);
    expect(entry().env).toEqual({
      ALLOWED_CWD_ROOTS: place.cwd,
      NACRE_PRESET: 'git',
      NACRE_NETWORK: 'on',
    });
  });

  it('proposes a list for an entry that has variables, but none', async () => {
    put('.gemini/settings.json', '{"mcpServers": {"nacre": {"command": "x", "env": {"A": "1"}}}}');
    expect((await nacre('init', 'gemini')).stdout).toContain('commands  the preset read-only');
    const { env: told } = JSON.parse(read('.gemini/settings.json')).mcpServers.nacre;
    expect(told).toEqual({ A: '1', NACRE_PRESET: 'read-only' });
  });

  it('keeps a list without a program, and says that nothing may run', async () => {
    put('.config/nacre/config.yaml', 'allowed_commands: [git]\n');
    put('.gemini/settings.json', '{"mcpServers": {"nacre": {"env": {"ALLOWED_COMMANDS": ""}}}}');
    expect((await nacre('init', 'gemini')).stdout).toContain('commands  nothing\n');
    expect(JSON.parse(read('.gemini/settings.json')).mcpServers.nacre.env).toEqual({ ALLOWED_COMMANDS: '' });
    expect((await nacre('doctor')).stdout).toContain('its own list has no program that may run');
  });

  it('leaves the sandbox off where there is none, and says what turns it on later', async () => {
    const bin = pathWithout(place.cwd, { hidden: ['bwrap'] });
    const { stdout } = await runInProcess(['init', 'codex'], { ...place, env: { ...place.env, PATH: bin } });
    expect(fromToml(read('.codex/config.toml')).nacre.env.NACRE_SANDBOX).toBe('off');
    expect(stdout).toMatch(/There is no sandbox here: nacre doctor .* nacre init --sandbox workspace /);
    await nacre('init', 'codex', '--sandbox', 'workspace');
    expect(fromToml(read('.codex/config.toml')).nacre.env.NACRE_SANDBOX).toBe('workspace');
  });

  it('writes a preset and what is listed beside it as they were given', async () => {
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

  it("names a settings file that was given in place of the user's", async () => {
    put('mine.yaml', 'allowed_commands: [git]\nsandbox: strict\n');
    const args = ['init', '--print', '--config', 'mine.yaml'];
    expect(JSON.parse((await nacre(...args)).stdout).mcpServers.nacre).toEqual({
      command: node,
      args: [builtCli, 'mcp', '--config', at('mine.yaml')],
      env: {},
    });
  });

  it('proposes what the folder needs, and leaves to the settings file what stands there', async () => {
    const preset = async () =>
      JSON.parse((await nacre('init', '--print', '--sandbox', 'off')).stdout).mcpServers.nacre.env;
    expect(await preset()).toEqual({ NACRE_PRESET: 'read-only', NACRE_SANDBOX: 'off' });
    mkdirSync(at('.git'));
    expect(await preset()).toMatchObject({ NACRE_PRESET: 'git' });
    put('requirements.txt', '');
    expect(await preset()).toMatchObject({ NACRE_PRESET: 'dev-python' });
    put('package.json', '{}');
    expect(await preset()).toMatchObject({ NACRE_PRESET: 'dev-node' });
    put('.config/nacre/config.yaml', 'allowed_commands: [git]\nsandbox: strict\n');
    const { stdout } = await nacre('init', 'claude-code');
    expect(JSON.parse(read('.claude.json')).mcpServers.nacre.env).toEqual({});
    expect(stdout).toContain('commands  as your settings file says');
    place = { ...place, env: { ...place.env, ALLOWED_COMMANDS: 'ls' } };
    expect(await preset()).toEqual({ NACRE_SANDBOX: 'off' });
  });

  it('writes other settings that are given as flags, too, paths from where it runs', async () => {
    const { stdout } = await nacre(
      'init',
      '--print',
      ...flags,
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

describe('nacre init where somebody answers', () => {
  async function answer(argv: readonly string[], answers: readonly [RegExp, string][]) {
    const started = startInProcess(['init', ...argv], place);
    for (const end of [started.stdin, started.stdout]) Object.assign(end, { isTTY: true });
    for (const [question, words] of answers) {
      await expect.poll(started.out.text, { timeout: 10_000 }).toMatch(question);
      started.stdin.write(words);
    }
    return started;
  }

  it('takes answers, asks again after a wrong one, and proposes what is there', async () => {
    mkdirSync(at('work'));
    const first = await answer(
      ['claude-code'],
      [
        [/Folder that commands run in \[where Claude Code works\]: /, 'nowhere\n'],
        [/nowhere is no folder\./, '~/work\n'],
        [/Programs that may run.*\[read-only\]: /, ', ,\n'],
        [/names no program\./, 'dev node\n'],
        [/dev node is no preset; dev-node is one\./, 'git ls\n'],
        [/Sandbox: /, 'total\n'],
        [/total is none of/, 'off\n'],
      ],
    );
    expect((await first.ended).code).toBe(0);
    const entry = () => JSON.parse(read('.claude.json')).mcpServers.nacre;
    expect(entry().args).toEqual([builtCli, 'mcp', '--cwd', at('work')]);
    expect(entry().env).toMatchObject({ ALLOWED_COMMANDS: 'git,ls', NACRE_SANDBOX: 'off' });
    const second = await answer(
      ['claude-code'],
      [
        [/work\]: /, '\n'],
        [/\[git,ls\]: /, 'dev-node\n'],
        [/\[off\]: /, '\n'],
      ],
    );
    expect((await second.ended).code).toBe(0);
    expect(entry().env).toEqual({
      ALLOWED_CWD_ROOTS: at('work'),
      NACRE_PRESET: 'dev-node',
      NACRE_SANDBOX: 'off',
    });
  });

  it('writes nothing when nobody does, or the process is to end', async () => {
    const leave = await answer(['claude-code'], [[/Folder/, '']]);
    leave.stdin.end();
    const interrupted = await answer(['claude-code'], [[/Folder/, '']]);
    interrupted.interrupt('SIGTERM');
    for (const { ended } of [leave, interrupted])
      expect(await ended).toMatchObject({
        code: 130,
        stderr: expect.stringContaining('There was no answer'),
      });
    expect(existsSync(at('.claude.json'))).toBe(false);
  });
});

describe('nacre init in odd places', () => {
  it.each(['a b', 'ü 漢', 'quote"s \'and\\slashes', 'line\nbreak', 'a,b'])(
    'names the folder %j as it is',
    async (name) => {
      mkdirSync(at(name));
      for (const client of ['cursor', 'codex']) {
        expect((await nacre('init', client, '--file', 'c', '--project', name, ...flags)).code).toBe(0);
        const text = read('c');
        const entry = client === 'codex' ? fromToml(text) : JSON.parse(text).mcpServers;
        expect(entry.nacre.args.at(-1)).toBe(at(name));
        expect(entry.nacre.env.ALLOWED_CWD_ROOTS).toBe(name.includes(',') ? undefined : at(name));
        rmSync(at('c'));
      }
    },
  );

  it('leaves alone what something else changes at the same time', () => {
    put('c.json', '{}');
    const file = openConfigFile(at('c.json'));
    put('c.json', '{"theirs": 1}');
    expect(() => file.replace('{"ours": 1}', at('backups'))).toThrow('something else has changed it');
    expect(read('c.json')).toBe('{"theirs": 1}');
    const fresh = openConfigFile(at('new.json'));
    put('new.json', '{}');
    expect(() => fresh.replace('{"ours": 1}', at('backups'))).toThrow('something else has changed it');
    expect(readdirSync(place.cwd).filter((name) => name.includes('nacre_'))).toEqual([]);
  });
});

describe('nacre init writes nothing and says why', () => {
  const refused = async (...argv: string[]) => {
    const { code, stdout, stderr } = await nacre('init', ...argv, ...flags);
    expect([code, stdout, backups()]).toEqual([125, '', []]);
    return stderr;
  };

  it.each([
    ['{ "mcpServers": { "a": 1 "b": 2 } }', '.claude.json:1:26 cannot be edited: a comma or } is expected.'],
    ['{\n  "mcpServers": [],\n}', '.claude.json:2:17 cannot be edited: mcpServers is no object.'],
    ['{"mcpServers": {"nacre": 5}}', '.claude.json:1:26 cannot be edited: mcpServers.nacre is no object.'],
    ['[]', 'cannot be edited: the file is no object.'],
    ['<<<<<<< HEAD\n{}\n', 'cannot be edited: a value is expected.'],
  ])('about %s', async (text, reason) => {
    put('.claude.json', text);
    expect(await refused('claude-code')).toContain(reason);
    expect(read('.claude.json')).toBe(text);
  });

  it('about a file that is no text in UTF-8, no file, or not to be written', async () => {
    writeFileSync(at('.claude.json'), Buffer.from('{"a": "\xe9"}', 'latin1'));
    expect(await refused('claude-code')).toContain('it is not UTF-8.');
    mkdirSync(at('folder'));
    expect(await refused('claude-code', '--file', 'folder')).toContain('it is no file.');
    put('.codex/config.toml', 'a = 1\n');
    chmodSync(at('.codex/config.toml'), 0o444);
    expect(await refused('codex')).toContain('it is read-only.');
    expect(read('.codex/config.toml')).toBe('a = 1\n');
    expect(await refused('codex', '--file', '/proc/nowhere/config.toml')).toContain('cannot be written');
    symlinkSync('loop', at('loop'));
    expect(await refused('codex', '--file', 'loop')).toContain('cannot be found');
  });

  it.each([
    ['codex', '[mcp_servers.nacre]\nurl = "http://127.0.0.1:7433/mcp"\n'],
    ['gemini', '{"mcpServers": {"nacre": {"httpUrl": "http://127.0.0.1:7433/mcp"}}}'],
  ])('about an entry of %s that leads to an address, which --remove takes out', async (client, text) => {
    put('c', text);
    expect(await refused(client, '--file', 'c')).toContain('leads to http://127.0.0.1:7433/mcp.');
    expect(read('c')).toBe(text);
    await nacre('init', client, '--file', 'c', '--remove');
    expect((await nacre('init', client, '--file', 'c', ...flags)).code).toBe(0);
  });

  it('about a folder that no sandbox takes as its workspace, which doctor finds in an entry, too', async () => {
    const inHome = ['init', 'claude-desktop', '--preset', 'git', '--project'];
    mkdirSync(at('.config/nvim'), { recursive: true });
    for (const folder of ['.', '/', '/etc', '.config', '.config/nvim']) {
      const { code, stderr } = await nacre(...inHome, folder, '--sandbox', 'workspace');
      expect([code, stderr]).toEqual([125, expect.stringContaining('would refuse every command in')]);
    }
    expect(existsSync(at('.config/Claude'))).toBe(false);
    mkdirSync(at('work'));
    for (const more of [
      ['--sandbox', 'off'],
      ['--sandbox', 'workspace', '--workspace', 'work'],
    ])
      expect((await nacre(...inHome, '.', ...more)).code).toBe(0);
    const file = '.config/Claude/claude_desktop_config.json';
    put(file, read(file).replace('NACRE_WORKSPACE', 'OTHER'));
    const { findings } = JSON.parse((await nacre('doctor', '--json')).stdout);
    const found = findings.find(({ check }: { check: string }) => check === 'client:claude-desktop');
    expect(found).toMatchObject({ status: 'warning', fix: 'nacre init claude-desktop --project DIR' });
  });

  it('about clients, folders and words that there are not', async () => {
    expect(await refused('cursr')).toContain('There is no client cursr. Did you mean cursor?');
    expect(await refused()).toContain('Name a client. They are claude-code, claude-desktop,');
    expect(await refused('cursor', 'vscode')).toContain('takes one client, not cursor vscode.');
    expect(await refused('cursor', '--project', 'nowhere')).toContain('nowhere is no folder.');
    mkdirSync(at('a\u0024{b}'));
    expect(await refused('cursor', '--project', 'a\u0024{b}', '--file', 'c')).toContain(
      'would replace the $ in',
    );
    expect(await refused('--print', '--remove')).toContain('Name a client.');
    for (const more of [[], ['--print']]) {
      const { code, stdout } = await nacre('init', 'cursor', '--remove', ...more);
      expect([code, stdout]).toEqual([
        0,
        `${at('.cursor/mcp.json')} has no entry for nacre; nothing was written.\n`,
      ]);
    }
    expect(existsSync(at('.cursor'))).toBe(false);
  });
});

describe('nacre init follows symbolic links', () => {
  it('to the file that they lead to, which keeps its mode, and to one that is not there yet', async () => {
    put('dotfiles/claude.json', '{}');
    chmodSync(at('dotfiles/claude.json'), 0o640);
    symlinkSync('dotfiles/claude.json', at('.claude.json'));
    await nacre('init', 'claude-code', ...flags);
    expect(lstatSync(at('.claude.json')).isSymbolicLink()).toBe(true);
    expect(read('dotfiles/claude.json')).toContain('nacre');
    expect(statSync(at('dotfiles/claude.json')).mode & 0o777).toBe(0o640);
    mkdirSync(at('.codex'));
    symlinkSync('../dotfiles/codex.toml', at('.codex/config.toml'));
    await nacre('init', 'codex', ...flags);
    expect(read('dotfiles/codex.toml')).toContain('[mcp_servers.nacre]');
    expect(readdirSync(at('dotfiles')).sort()).toEqual(['claude.json', 'codex.toml']);
  });
});

describe('nacre mcp --cwd', () => {
  it('refuses a directory that does not exist', async () => {
    const { code, stderr } = await nacre('mcp', '--cwd', 'nowhere');
    expect([code, stderr]).toEqual([
      125,
      expect.stringContaining(`--cwd: ${at('nowhere')} is no directory.`),
    ]);
  });
});

interface Entry {
  readonly nacre: { command: string; args: string[]; env: Record<string, string> };
}

function fromToml(text: string): Entry {
  const [command = '', args = '', variables = ''] = text
    .split('\n')
    .slice(1)
    .map((line) => line.replace(/^\w+ = /, ''));
  const env = variables.replace(/(\w+) = /g, '"$1": ');
  return { nacre: { command: JSON.parse(command), args: JSON.parse(args), env: JSON.parse(env) } };
}

async function useEntry(servers: unknown): Promise<unknown> {
  const { command, args, env } = (servers as Entry).nacre;
  const transport = new StdioClientTransport({
    command,
    args,
    env: { ...place.env, ...env },
    cwd: '/',
    stderr: 'ignore',
  });
  const client = new Client({ name: 'tester', version: '1' });
  await client.connect(transport);
  try {
    return (await client.callTool({ name: 'execute_command', arguments: { command: 'ls' } }))
      .structuredContent;
  } finally {
    await client.close();
  }
}
