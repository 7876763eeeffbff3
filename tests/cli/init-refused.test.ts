import { chmodSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { examineClients } from '../../src/doors/cli/doctor/examine-clients.ts';
import { createTestDeps } from '../support/door-deps.ts';
import { useHome } from '../support/use-home.ts';

const { at, backups, nacre, place, put, read } = useHome();
const flags = ['--allow', 'git,ls', '--sandbox', 'off'];

describe('nacre init writes nothing and reports', () => {
  const refused = async (...argv: string[]) => {
    const { code, stdout, stderr } = await nacre('init', ...argv, ...flags);
    expect([code, stdout, backups()]).toEqual([125, '', []]);
    return stderr;
  };

  it.each([
    ['{ "mcpServers": { "a": 1 "b": 2 } }', '.claude.json:1:26 cannot be edited: expected a comma or }.'],
    ['{\n  "mcpServers": [],\n}', '.claude.json:2:17 cannot be edited: mcpServers is not an object.'],
    [
      '{"mcpServers": {"nacre": 5}}',
      '.claude.json:1:26 cannot be edited: mcpServers.nacre is not an object.',
    ],
    ['[]', 'cannot be edited: the file is not an object.'],
    ['<<<<<<< HEAD\n{}\n', 'cannot be edited: expected a value.'],
  ])('a syntax or type error in %s', async (text, reason) => {
    put('.claude.json', text);
    expect(await refused('claude-code')).toContain(reason);
    expect(read('.claude.json')).toBe(text);
  });

  it('a file that is not UTF-8, not a regular file, or not writable', async () => {
    writeFileSync(at('.claude.json'), Buffer.from('{"a": "\xe9"}', 'latin1'));
    expect(await refused('claude-code')).toContain('it is not UTF-8.');
    mkdirSync(at('folder'));
    expect(await refused('claude-code', '--file', 'folder')).toContain('it is not a regular file.');
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
  ])('an entry of %s with an address, which --remove removes', async (client, text) => {
    put('c', text);
    expect(await refused(client, '--file', 'c')).toContain(
      'connects to the address http://127.0.0.1:7433/mcp.',
    );
    expect(read('c')).toBe(text);
    await nacre('init', client, '--file', 'c', '--remove');
    expect((await nacre('init', client, '--file', 'c', ...flags)).code).toBe(0);
  });

  it('a folder that is not a valid workspace, which doctor also finds in an entry', async () => {
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
    const { findings } = examineClients(await createTestDeps([], place()));
    const found = findings.find(({ check }) => check === 'client:claude-desktop');
    expect(found).toMatchObject({ status: 'warning', fix: 'nacre init claude-desktop --project DIR' });
  });

  it('unknown clients, missing folders and unexpected arguments', async () => {
    expect(await refused('cursr')).toContain('Unknown client: cursr. Did you mean cursor?');
    expect(await refused()).toContain('No client was named. Supported clients: claude-code, claude-desktop,');
    expect(await refused('cursor', 'vscode')).toContain('expects one client, not cursor vscode.');
    expect(await refused('cursor', '--project', 'nowhere')).toContain('nowhere is not a folder.');
    mkdirSync(at('a\u0024{b}'));
    expect(await refused('cursor', '--project', 'a\u0024{b}', '--file', 'c')).toContain(
      'would expand the $ in',
    );
    expect(await refused('--print', '--remove')).toContain('No client was named.');
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
