import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { builtCli } from '../support/build.ts';
import { useHome } from '../support/use-home.ts';

const { at, nacre, place, put, read } = useHome();
const flags = ['--preset', 'none', '--allow', 'git,ls', '--sandbox', 'off'];
const node = process.execPath;
const oneList = { type: 'local', enabled: true, command: [node, builtCli, 'mcp'], environment: {} };
const apart = { command: node, args: [builtCli, 'mcp'], env: {} };

const cases: readonly (readonly [string, string, string, (entry: unknown) => string])[] = [
  [
    'opencode',
    '.config/opencode/opencode.json',
    '// mine\n{\n  "model": "a/b", // keep\n}\n',
    (entry) => JSON.stringify({ mcp: { nacre: entry } }),
  ],
  [
    'kilo',
    '.config/kilo/kilo.json',
    '{\n  "mcp": {}\n}\n',
    (entry) => JSON.stringify({ mcp: { nacre: entry } }),
  ],
  ['qwen', '.qwen/settings.json', '{}\n', (entry) => JSON.stringify({ mcpServers: { nacre: entry } })],
  ['copilot', '.copilot/mcp-config.json', '', (entry) => JSON.stringify({ mcpServers: { nacre: entry } })],
  [
    'cline',
    '.cline/data/settings/cline_mcp_settings.json',
    '{"mcpServers": {}}',
    (entry) => JSON.stringify({ mcpServers: { nacre: entry } }),
  ],
];
const expected: Readonly<Record<string, object>> = {
  opencode: oneList,
  kilo: oneList,
  qwen: apart,
  copilot: { type: 'local', tools: ['*'], ...apart },
  cline: apart,
};

describe('nacre init for a client with a format of its own', () => {
  it.each(cases)('adds and removes the entry of %s in %s', async (client, file, before, toDocument) => {
    put(file, before);
    const { code, stdout, stderr } = await nacre('init', client, ...flags);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toContain(`${at(file)} was updated.`);
    const comments = (text: string) => text.replace(/\/\/.*$/gm, '').replace(/,(\s*[}\]])/g, '$1');
    expect(JSON.parse(comments(read(file)))).toMatchObject(JSON.parse(toDocument(expected[client])));
    for (const comment of before.match(/\/\/.*$/gm) ?? []) expect(read(file)).toContain(comment);
    expect((await nacre('init', client, ...flags)).stdout).toContain('already has this entry');
    await nacre('init', client, '--remove');
    expect(read(file)).not.toContain('nacre');
  });

  it('adds and removes an item of the list in the YAML of Continue', async () => {
    const before = '# mine\nname: mine\nmodels: [] # keep\n';
    put('.continue/config.yaml', before);
    expect((await nacre('init', 'continue', ...flags)).code).toBe(0);
    expect(read('.continue/config.yaml')).toBe(
      `${before}mcpServers:\n  - { name: nacre, command: ${node}, args: [${builtCli}, mcp], env: {  } }\n`,
    );
    await nacre('init', 'continue', '--remove');
    expect(read('.continue/config.yaml')).toBe(`${before}mcpServers: []\n`);
  });

  it.each([
    ['opencode', '.config/opencode/opencode.json', '{"mcp": ['],
    ['kilo', '.config/kilo/kilo.json', '{"mcp": []}'],
    ['qwen', '.qwen/settings.json', '{"mcpServers": {"nacre": {}, "nacre": {}}}'],
    ['copilot', '.copilot/mcp-config.json', 'mcpServers: {}'],
    ['cline', '.cline/data/settings/cline_mcp_settings.json', '{'],
    ['continue', '.continue/config.yaml', 'mcpServers: [\n'],
    ['continue', '.continue/config.yaml', 'mcpServers: {nacre: {}}\n'],
  ])('leaves a broken file of %s as it is, and names it', async (client, file, text) => {
    put(file, text);
    const { code, stderr } = await nacre('init', client, ...flags);
    expect(code).not.toBe(0);
    expect(stderr).toMatch(new RegExp(`${at(file)}:\\d+:\\d+ cannot be edited: `));
    expect(stderr).toContain('nothing was written');
    expect(read(file)).toBe(text);
    expect(existsSync(at('.config/nacre/config.yaml'))).toBe(false);
  });

  it('uses the .jsonc file if there is one', async () => {
    put('.config/opencode/opencode.jsonc', '{}\n');
    await nacre('init', 'opencode', ...flags);
    expect(existsSync(at('.config/opencode/opencode.json'))).toBe(false);
    expect(JSON.parse(read('.config/opencode/opencode.jsonc')).mcp.nacre).toEqual(oneList);
  });

  it('keeps what the user changed in an entry, and reads the nested form of Cline', async () => {
    put(
      '.copilot/mcp-config.json',
      '{"mcpServers": {"nacre": {"tools": ["execute_command"], "command": "x"}}}',
    );
    await nacre('init', 'copilot', ...flags);
    expect(JSON.parse(read('.copilot/mcp-config.json')).mcpServers.nacre).toMatchObject({
      tools: ['execute_command'],
      command: node,
    });
    const nested = { transport: { type: 'stdio', command: 'old', args: ['mcp', '--cwd', place().cwd] } };
    const file = '.cline/data/settings/cline_mcp_settings.json';
    put(file, JSON.stringify({ mcpServers: { nacre: nested } }));
    await nacre('init', 'cline', ...flags);
    expect(JSON.parse(read(file)).mcpServers.nacre).toMatchObject({
      args: [builtCli, 'mcp', '--cwd', place().cwd],
    });
    expect(read(file)).not.toContain('transport');
  });

  it.each([['cline'], ['continue']])('has no file for one project in %s', async (client) => {
    const { code, stderr } = await nacre('init', client, '--scope', 'project', ...flags);
    expect([code, stderr]).toEqual([expect.any(Number), expect.stringContaining('no project-specific')]);
    expect(code).not.toBe(0);
  });

  it.each([
    ['claude-code', /claude -p refuses every call\. Add "mcp__nacre" to permissions\.allow/],
    ['codex', /codex exec refuses every call\. Add default_tools_approval_mode = "approve"/],
    ['gemini', /starts no server in a folder that you do not trust/],
    ['qwen', /qwen -p refuses every call\. Add "trust": true/],
    ['copilot', /copilot -p refuses every call\. Pass --allow-tool nacre/],
  ])('says what %s still asks of the user', async (client, line) => {
    expect((await nacre('init', client, ...flags)).stdout).toMatch(line);
  });

  it('names in doctor what a client still asks of the user', async () => {
    await nacre('init', 'codex', ...flags);
    const { stdout } = await nacre('doctor', '--json');
    const { findings } = JSON.parse(stdout) as { findings: readonly { check: string }[] };
    expect(findings.filter(({ check }) => check === 'consent:codex')).toEqual([
      {
        check: 'consent:codex',
        status: 'note',
        found: 'Codex asks before it calls nacre, and codex exec refuses every call.',
        fix: `Add default_tools_approval_mode = "approve" to [mcp_servers.nacre] in ${at('.codex/config.toml')}.`,
      },
    ]);
  });

  it('does not ask for a consent that the files show', async () => {
    put('.codex/config.toml', '[mcp_servers.nacre]\ndefault_tools_approval_mode = "approve"\n');
    expect((await nacre('init', 'codex', ...flags)).stdout).not.toContain('refuses every call');
    put('.claude/settings.json', '{"permissions": {"allow": ["mcp__nacre"]}}');
    expect((await nacre('init', 'claude-code', ...flags)).stdout).not.toContain('refuses every call');
  });
});
