import { describe, expect, it } from 'vitest';
import { getToml, removeToml, setToml } from './edit-toml.ts';

const path = ['mcp_servers', 'nacre'];
const entry = { command: '/usr/bin/node', args: ['cli.js', 'mcp'], env: { A: 'x', 'B.C': '"y"\\' } };
const written =
  '[mcp_servers.nacre]\ncommand = "/usr/bin/node"\nargs = ["cli.js", "mcp"]\nenv = { A = "x", "B.C" = "\\"y\\"\\\\" }\n';

const real = `# Codex
model = "gpt-5" # the usual one
approval_policy = "on-request"
notify = [
  "say", # a word
  'done [x]',
]

[mcp_servers.docs]
command = "npx"
args = ["-y", "docs"]
prompt = """
[mcp_servers.nacre]
command = "not this one \\""""

[profiles."a.b"]
since = 2026-01-31 10:00:00Z
weights = { one = 1.5, two = [0x1F, +inf] }
`;

describe('setToml', () => {
  it('adds a table at the end and leaves every byte before it', () => {
    expect(setToml('', path, entry)).toBe(written);
    expect(setToml(real, path, entry)).toBe(`${real}\n${written}`);
    expect(setToml('a = 1', path, entry)).toBe(`a = 1\n\n${written}`);
    const windows = real.replaceAll('\n', '\r\n');
    expect(setToml(windows, path, entry)).toBe(`${windows}\r\n${written.replaceAll('\n', '\r\n')}`);
  });

  it('is idempotent, however the values are written', () => {
    expect(setToml(`${real}\n${written}`, path, entry)).toBe(`${real}\n${written}`);
    const other = `["mcp_servers".'nacre'] # mine\nargs = [ 'cli.js',\n  "mcp", # last\n]\ncommand='/usr/bin/node'\n[mcp_servers.nacre.env]\nA = "\\u0078"\n"B.C" = '"y"\\'\n`;
    expect(setToml(other, path, entry)).toBe(other);
    expect(getToml(other, path)).toEqual(entry);
    const turned = '[mcp_servers.nacre]\nenv = { B = "2", A = "1" }\n';
    expect(setToml(turned, path, { env: { A: '1', B: '2' } })).toBe(turned);
  });

  it('changes different values in place, and keeps keys that the user added', () => {
    const text = `[mcp_servers.nacre]\nstartup_timeout_sec = 20 # slow disk\ncommand = "old" # why\n\n# about b\n[b]\nc = 1\n`;
    expect(setToml(text, path, { command: 'new', args: ['x'] })).toBe(
      `[mcp_servers.nacre]\nstartup_timeout_sec = 20 # slow disk\ncommand = "new" # why\nargs = ["x"]\n\n# about b\n[b]\nc = 1\n`,
    );
  });

  it('edits variables in a separate table, one key at a time', () => {
    const text = '[mcp_servers.nacre.env]\nA = "1" # one\nOLD = "2"\n\n[z]\n';
    expect(setToml(text, path, { command: 'c', env: { A: '3', NEW: '4' } })).toBe(
      '[mcp_servers.nacre]\ncommand = "c"\n\n[mcp_servers.nacre.env]\nA = "3" # one\nNEW = "4"\n\n[z]\n',
    );
  });

  it('keeps variables in other notations', () => {
    const text =
      '[mcp_servers.nacre]\ncommand = "n"\n\n[mcp_servers.nacre.env]\nA = """x"""\nN = 1\nOLD = "1"\n';
    expect(setToml(text, path, { env: { A: 'x', N: '1', B: 'y' } })).toBe(
      '[mcp_servers.nacre]\ncommand = "n"\n\n[mcp_servers.nacre.env]\nA = """x"""\nN = "1"\nB = "y"\n',
    );
  });

  it('adds to a table that ends without a newline', () => {
    expect(setToml('[mcp_servers.nacre]', path, { command: 'c', env: {} })).toBe(
      '[mcp_servers.nacre]\ncommand = "c"\nenv = {}\n',
    );
  });

  it.each([
    ['mcp_servers = {}', 'mcp_servers is written as a key'],
    ['mcp_servers.nacre.command = "x"', 'mcp_servers.nacre.command is written as a key'],
    ['[mcp_servers]\nnacre = { command = "x" }', 'mcp_servers.nacre is written as a key'],
    ['[[mcp_servers]]\nname = "nacre"', 'mcp_servers is written as a list of tables'],
    ['[mcp_servers.nacre]\n[mcp_servers.nacre]', 'occurs twice'],
    ['[mcp_servers.nacre]\nenv.A = "1"', 'env.A is written as a dotted key'],
    ['a = ', 'expected a value'],
    ['a = b', 'expected a value'],
    ['a = "x', 'expected a value'],
    ['a = [1 2]', 'expected a comma or ]'],
    ['a = { b = 1 c = 2 }', 'expected a comma or }'],
    ['a 1', 'expected = after the key'],
    ['[a', 'expected ]'],
    ['[[a]', 'expected ]]'],
    ['a = 1 b = 2', 'expected the end of the line'],
    ['= 1', 'expected a key'],
    [`a = ${'['.repeat(100_000)}`, 'it is nested too deeply'],
  ])('refuses %s', (text, reason) => {
    expect(() => setToml(text, path, entry)).toThrow(reason);
  });
});

describe('removeToml', () => {
  it('removes the table with its subtables, and no other byte', () => {
    expect(removeToml(`${real}\n${written}`, path)).toBe(real);
    expect(removeToml(`${real}\n${written}[mcp_servers.nacre.tools.x]\non = true\n`, path)).toBe(real);
    expect(removeToml(`${written}\n# about b\n[b]\n`, path)).toBe('\n# about b\n[b]\n');
    const between = `[a]\nb = 1\n\n${written}\n[c]\n`;
    expect(removeToml(between, path)).toBe('[a]\nb = 1\n\n[c]\n');
  });

  it('changes nothing if there is nothing to remove', () => {
    expect(removeToml(real, path)).toBe(real);
    expect(getToml(real, path)).toBeUndefined();
  });
});

describe('getToml', () => {
  it('reads multi-line strings as TOML does', () => {
    const text = `[mcp_servers.nacre]\ncommand = """\na\\\n   b\\u0021 "c" """\nargs = ["""x, y""", '''\n[z]\\n''', 'l']\n`;
    expect(getToml(text, path)).toEqual({ command: 'ab! "c" ', args: ['x, y', '[z]\\n', 'l'] });
  });

  it('returns strings, booleans, lists and tables of strings, and leaves out other values', () => {
    const text = `[mcp_servers.nacre]\ncommand = "a\\tb"\nargs = ["x", 1]\nenabled = true\nenv = { A = 'x', N = 1, L = [1] }\n`;
    expect(getToml(text, path)).toEqual({ command: 'a\tb', enabled: true, env: { A: 'x', N: '1' } });
  });
});
