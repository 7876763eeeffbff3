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
} from 'node:fs';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { describe, expect, it } from 'vitest';
import { openConfigFile } from '../../src/clients/config-file.ts';
import { builtCli } from '../support/build.ts';
import { fromToml, type OneServer } from '../support/from-toml.ts';
import { useHome } from '../support/use-home.ts';

const { at, backups, nacre, place, put, read, setEnv } = useHome();
const flags = ['--preset', 'none', '--allow', 'git,ls', '--sandbox', 'off'];
const settings = 'allowed_commands: [git, ls]\nsandbox: off\n';
const node = process.execPath;

describe('nacre init', () => {
  it('adds Claude Code for all projects, in a file with other content', async () => {
    const before = `{
  "numStartups": 42,
  "projects": {
    "/home/me/app": {
      "mcpServers": { "nacre": { "command": "another" } },
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
    expect([code, stdout]).toEqual([0, expect.stringContaining(`${at('.claude.json')} was updated.`)]);
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
      "env": {}
    }
`,
      ),
    );
    expect(read('.config/nacre/config.yaml')).toBe(settings);
    expect(statSync(at('.claude.json')).mode & 0o777).toBe(0o600);
    expect(backups().map((path) => readFileSync(path, 'utf8'))).toEqual([before]);
    expect(stdout).toContain(`Backup of the previous file: ${backups()[0]}`);
  });

  it('adds Claude Desktop with the project folder, in the application folder of the platform', async () => {
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
      args: [builtCli, 'mcp', '--cwd', place().cwd],
      env: { ALLOWED_CWD_ROOTS: place().cwd },
    });
    expect(read('.config/nacre/config.yaml')).toBe(settings);
    const project = await nacre('init', 'claude-desktop', '--scope', 'project');
    expect([project.code, project.stderr]).toEqual([
      125,
      expect.stringContaining('has no project-specific configuration'),
    ]);
  });

  it('adds Cursor in the project, next to an entry on one line', async () => {
    put('.cursor/mcp.json', '{"mcpServers":{"db":{"command":"npx","args":["-y","db"]}}}');
    expect((await nacre('init', 'cursor', ...flags)).code).toBe(0);
    const text = read('.cursor/mcp.json');
    expect(
      text.startsWith('{"mcpServers":{"db":{"command":"npx","args":["-y","db"]}, "nacre": {"command":'),
    ).toBe(true);
    expect(JSON.parse(text).mcpServers.nacre.args).toEqual([builtCli, 'mcp', '--cwd', place().cwd]);
  });

  it('adds VS Code under servers, and keeps comments and trailing commas', async () => {
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

  it('adds Codex as a separate table', async () => {
    const before =
      '# mine\nmodel = "gpt-5"\n\n[mcp_servers.docs]\ncommand = "npx"\nargs = ["-y", "docs"] # all\n';
    put('.codex/config.toml', before);
    expect((await nacre('init', 'codex', ...flags)).code).toBe(0);
    expect(read('.codex/config.toml')).toBe(
      `${before}\n[mcp_servers.nacre]\ncommand = "${node}"\nargs = ["${builtCli}", "mcp"]\nenv = {}\n`,
    );
    const written = read('.codex/config.toml');
    const dryRun = await nacre('init', 'codex', '--print', '--remove');
    expect(dryRun.stdout).toBe(
      `Codex would no longer start nacre: its entry would be removed from ${at('.codex/config.toml')}. Nothing was written.\n`,
    );
    expect([dryRun.code, read('.codex/config.toml')]).toEqual([0, written]);
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

  it('creates missing files, also where environment variables of a client point', async () => {
    setEnv({ CODEX_HOME: at('x/codex'), CLAUDE_CONFIG_DIR: at('x/claude') });
    for (const client of ['codex', 'claude-code'])
      expect((await nacre('init', client, ...flags)).code).toBe(0);
    expect([existsSync(at('x/codex/config.toml')), existsSync(at('x/claude/.claude.json'))]).toEqual([
      true,
      true,
    ]);
    expect(backups()).toEqual([]);
  });

  it.each(['claude-code', 'claude-desktop', 'cursor', 'vscode', 'codex', 'gemini'])(
    '%s gets a complete entry, and a second run changes nothing',
    async (client) => {
      expect((await nacre('init', client, '--file', 'config', '--project', '.', ...flags)).code).toBe(0);
      const first = read('config');
      const again = await nacre('init', client, '--file', 'config', '--project', '.', ...flags);
      expect(again.stdout).toContain('already has this entry; it was not changed.');
      expect([read('config'), backups()]).toEqual([first, []]);
      const args = ['init', client, '--print', '--project', '.', ...flags];
      expect((await nacre(...args)).stdout).toBe(first);
      expect(entryIn(client, first)).toMatchObject({
        command: node,
        args: [builtCli, 'mcp', '--cwd', place().cwd],
        env: { ALLOWED_CWD_ROOTS: place().cwd },
      });
      expect(read('.config/nacre/config.yaml')).toBe(settings);
      expect((await nacre('init', client, '--file', 'config', '--remove')).code).toBe(0);
      expect(read('config')).not.toContain(builtCli);
    },
  );

  it.each(['claude-code', 'codex'])('the entry of %s starts a server that runs commands', async (client) => {
    await nacre('init', client, '--file', 'config', '--project', '.', ...flags);
    const reply = await callServer(entryIn(client, read('config')));
    expect(reply).toMatchObject({ exit_code: 0, stdout: expect.stringContaining('config') });
  });
});

describe('nacre init in unusual places', () => {
  it.each(['a b', 'ü 漢', 'quote"s \'and\\slashes', 'line\nbreak', 'a,b'])(
    'writes the folder name %j unchanged',
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

  it('does not overwrite a file that another program changed in the meantime', () => {
    put('c.json', '{}');
    const file = openConfigFile(at('c.json'));
    put('c.json', '{"theirs": 1}');
    expect(() => file.replace('{"ours": 1}', at('backups'))).toThrow('another program has changed it');
    expect(read('c.json')).toBe('{"theirs": 1}');
    const fresh = openConfigFile(at('new.json'));
    put('new.json', '{}');
    expect(() => fresh.replace('{"ours": 1}', at('backups'))).toThrow('another program has changed it');
    expect(readdirSync(place().cwd).filter((name) => name.includes('nacre_'))).toEqual([]);
  });
});

describe('nacre init follows symbolic links', () => {
  it('to an existing target, which keeps its mode, and to a missing one', async () => {
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
      expect.stringContaining(`--cwd: ${at('nowhere')} is not a directory.`),
    ]);
  });
});

function entryIn(client: string, text: string): OneServer['nacre'] {
  const servers = client === 'codex' ? fromToml(text) : Object.values<OneServer>(JSON.parse(text))[0];
  if (servers === undefined) throw new Error(`no servers in ${text}`);
  return servers.nacre;
}

async function callServer({ command, args, env }: OneServer['nacre']): Promise<unknown> {
  const transport = new StdioClientTransport({
    command,
    args,
    env: { ...place().env, ...env },
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
