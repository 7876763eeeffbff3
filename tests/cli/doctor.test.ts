import { chmodSync, existsSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { examineNode } from '../../src/doors/cli/doctor/examine-machine.ts';
import { tryServer } from '../../src/worker/try-server.ts';
import { pathWithout } from '../support/path-without.ts';
import { useHome } from '../support/use-home.ts';

interface Finding {
  readonly check: string;
  readonly status: string;
  readonly found: string;
  readonly fix?: string;
}

const { at, nacre, place, put, read, setEnv } = useHome();

async function examine(...flags: string[]) {
  const { code, stdout } = await nacre('doctor', '--json', ...flags);
  const { findings } = JSON.parse(stdout) as { findings: Finding[] };
  return { code, findings, of: (check: string) => findings.filter((one) => one.check === check) };
}

describe('E9: nacre doctor', () => {
  it('finds all well where it is, with a call over MCP that ran a command', async () => {
    setEnv({ ALLOWED_COMMANDS: 'echo,ls' });
    const { code, findings, of } = await examine();
    expect(code).toBe(0);
    const checks = ['node', 'git', 'folder', 'quotas', 'bash', 'bubblewrap', 'namespaces', 'terminal'];
    for (const check of [...checks, 'policy', 'mcp'])
      expect(
        of(check).map(({ status }) => status),
        check,
      ).toContain('ok');
    expect(of('policy')[0]?.found).toBe('2 programs may run (ALLOWED_COMMANDS)');
    expect(of('mcp')[0]?.found).toMatch(
      /^a call over MCP on stdio \(2025-06-18, \d+ tools\) was answered in \d+ ms$/,
    );
    expect(of('enforcement')[0]?.found).toContain('supervision namespace, sandbox off');
    expect(of('clients')).toMatchObject([{ status: 'warning', fix: 'nacre init CLIENT' }]);
    for (const { status, fix } of findings)
      expect(['warning', 'problem'].includes(status) ? fix : 'x').toBeTruthy();
    expect(readdirSync(at('.local/state/nacre')).filter((name) => name.startsWith('.doctor'))).toEqual([]);
  });

  it('shows the same as lines, each with what mends it', async () => {
    const { code, stdout } = await nacre('doctor');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^ok {7}node: Node\.js \d/m);
    expect(stdout).toMatch(
      /^warning {2}policy: ALLOWED_COMMANDS is not set.*\n {9}→ nacre init CLIENT --preset NAME$/m,
    );
    expect(stdout).toMatch(/^note {5}mcp: .* the command echo did not run: echo is not allowed/m);
  });

  it('tells what is wrong with the settings in place of stopping there', async () => {
    put('.config/nacre/config.yaml', 'danger: maybe\n');
    const { code, of } = await examine();
    expect(code).toBe(1);
    expect(of('policy')).toMatchObject([
      { status: 'problem', found: expect.stringContaining('config.yaml:1: danger') },
    ]);
    expect(of('mcp')).toMatchObject([
      { status: 'problem', found: expect.stringContaining('it ended with 125; it said:') },
    ]);
    expect((await nacre('config')).code).toBe(125);
  });

  it('names the package for what is missing', async () => {
    const bin = pathWithout(place().cwd, { hidden: ['git', 'bwrap'], broken: ['unshare'] });
    setEnv({ PATH: bin });
    const { code, of } = await examine();
    expect(code).toBe(0);
    expect(of('git')).toMatchObject([{ status: 'warning', fix: expect.stringMatching(/ git$/) }]);
    expect(of('bubblewrap')).toMatchObject([
      { status: 'warning', fix: expect.stringMatching(/ bubblewrap$/) },
    ]);
    expect(of('namespaces')).toMatchObject([{ status: 'warning', fix: expect.any(String) }]);
  });

  it('tells a bubblewrap that does not work from one that is missing', async () => {
    const bin = pathWithout(place().cwd, { broken: ['bwrap', 'unshare'] });
    setEnv({ PATH: bin });
    const [found] = (await examine()).of('bubblewrap');
    expect(found?.found).toContain(`${bin}/bwrap starts nothing here`);
    expect(found?.fix).toMatch(/^(sudo sysctl -w|Run bwrap --unshare-pid) /);
  });

  it('tells what each client may run, and warns only where none of them may run anything', async () => {
    await nacre('init', 'gemini', '--preset', 'git', '--sandbox', 'off', '--project', '/srv');
    const listed = await examine();
    expect(listed.of('policy')).toMatchObject([
      { status: 'ok', found: expect.stringContaining('stand in its entry') },
    ]);
    expect(listed.of('client:gemini')[0]?.found).toContain('starts this nacre: the preset git, sandbox off');
    put('.gemini/settings.json', read('.gemini/settings.json').replace('NACRE_PRESET', 'OTHER'));
    const empty = await examine();
    expect(empty.of('policy')).toMatchObject([{ status: 'warning' }]);
    expect(empty.of('client:gemini')).toMatchObject([
      { status: 'warning', fix: 'nacre init gemini --preset NAME' },
    ]);
  });

  it('warns of an entry whose folder no sandbox takes, unless a workspace is named', async () => {
    await nacre('init', 'gemini', '--preset', 'git', '--sandbox', 'off', '--project', '/srv');
    const text = read('.gemini/settings.json').replace('"off"', '"workspace"');
    put('.gemini/settings.json', text);
    expect((await examine()).of('client:gemini')).toMatchObject([
      {
        status: 'warning',
        found: expect.stringContaining('names /srv, where the sandbox workspace refuses'),
      },
    ]);
    put('.gemini/settings.json', text.replace('"mcp"', '"mcp", "--workspace=/srv/project"'));
    expect((await examine()).of('client:gemini')).toMatchObject([{ status: 'ok' }]);
    put('.gemini/settings.json', text);
    put('.config/nacre/config.yaml', 'workspace: [/srv/project]\n');
    expect((await examine()).of('client:gemini')).toMatchObject([{ status: 'ok' }]);
  });

  it('warns of a folder that is gone, however the entry names it', async () => {
    await nacre('init', 'gemini', '--preset', 'git', '--sandbox', 'off');
    const text = read('.gemini/settings.json');
    for (const words of ['"--cwd", "/gone/project"', '"--cwd=/gone/project"']) {
      put('.gemini/settings.json', text.replace('"mcp"', `"mcp", ${words}`));
      expect((await examine()).of('client:gemini')).toMatchObject([
        { status: 'warning', found: expect.stringContaining('names /gone/project, which does not exist') },
      ]);
    }
  });

  it('makes its call with the settings that it was given', async () => {
    const { of } = await examine('--allow', 'echo', '--state-dir', 'own');
    expect(of('mcp')).toMatchObject([{ status: 'ok' }]);
    expect(existsSync(at('.local'))).toBe(false);
  });

  it('finds folders that cannot be written and quotas that do not fit', async () => {
    put('state', 'a file');
    setEnv({ NACRE_STATE_DIR: at('state'), NACRE_SPOOL_TOTAL_BYTES: '1099511627776' });
    const { code, of } = await examine();
    expect(code).toBe(1);
    expect(of('folder')[0]).toMatchObject({
      status: 'problem',
      fix: 'Name another with NACRE_STATE_DIR.',
    });
    expect(of('quotas')).toMatchObject([
      { status: 'warning', found: expect.stringContaining('are free at') },
    ]);
    const recording = await examine('--record', '--record-max-bytes', '2097152');
    expect(recording.of('quotas')).toMatchObject([
      {
        found: expect.stringContaining(', and recordings up to 0.0 GiB may be kept'),
        fix: 'Make room, or lower NACRE_SPOOL_TOTAL_BYTES, NACRE_AUDIT_MAX_BYTES, and NACRE_RECORD_MAX_BYTES.',
      },
    ]);
    expect(of('engine')).toMatchObject([{ status: 'problem' }]);
  });

  it('reads the configuration of every client, and starts nothing that stands there', async () => {
    await nacre('init', 'claude-code', '--yes');
    await nacre('init', 'cursor', '--sandbox', 'off', '--yes');
    put('.gemini/settings.json', '{ "theme": "x" }');
    put(
      '.codex/config.toml',
      '[mcp_servers.nacre]\ncommand = "/gone/node"\nargs = ["/gone/cli.js", "mcp"]\n',
    );
    put('.vscode/mcp.json', '{ "servers": { "nacre": { "command": "sh", "args": ["-c", "touch ran"] } } }');
    put('.mcp.json', '{ broken');
    put('.config/Claude/claude_desktop_config.json', '{}');
    chmodSync(at('.config/Claude/claude_desktop_config.json'), 0o444);
    const { code, of } = await examine();
    expect(code).toBe(0);
    expect(of('client:claude-code')).toMatchObject([
      {
        status: 'ok',
        found: expect.stringMatching(
          /^Claude Code: .*\.claude\.json starts this nacre: the preset read-only, sandbox /,
        ),
      },
      { status: 'warning', found: expect.stringContaining('.mcp.json:1:3 cannot be edited') },
    ]);
    expect(of('client:cursor')).toMatchObject([{ status: 'ok' }]);
    expect(of('client:gemini')).toMatchObject([{ status: 'note', fix: 'nacre init gemini' }]);
    expect(of('client:codex')).toMatchObject([
      { status: 'warning', found: expect.stringContaining('names /gone/node, which does not exist') },
    ]);
    expect(of('client:vscode')).toMatchObject([
      { status: 'note', found: expect.stringContaining('another copy') },
    ]);
    expect(of('client:claude-desktop')).toMatchObject([{ status: 'note' }]);
    expect(existsSync(at('ran'))).toBe(false);
  });
});

describe('nacre doctor with odd surroundings', () => {
  it('shows nothing of a configuration that a terminal would obey, and goes on where it cannot look', async () => {
    put('.mcp.json', JSON.stringify({ mcpServers: { nacre: { command: '/x/\u001b[2Jnode' } } }));
    symlinkSync('loop', at('.claude.json'));
    put('.codex', 'a file');
    mkdirSync(at('.gemini/settings.json'), { recursive: true });
    const { code, stdout } = await nacre('doctor');
    expect(code).toBe(0);
    expect(stdout).toContain('\\u{1b}[2Jnode, which does not exist');
    expect(stdout).not.toContain('\u001b');
    expect(stdout).toMatch(/Gemini CLI: .* it is no file/);
  });
});

describe('examineNode', () => {
  it.each([
    ['18.20.0', 'problem'],
    ['20.18.9', 'problem'],
    ['20.19.0', 'ok'],
    ['24.0.0', 'ok'],
  ])('%s is %s', (version, status) => {
    expect(examineNode(version).status).toBe(status);
  });
});

describe('tryServer', () => {
  const start = (script: string) => ({
    command: process.execPath,
    args: ['-e', script],
    env: place().env,
    cwd: place().cwd,
  });

  it('says at which step a server did not answer, and ends it', async () => {
    await expect(tryServer(start('setTimeout(() => {}, 1e6)'), 300)).rejects.toThrow(
      'initialize: there was no answer within 300 ms',
    );
    await expect(tryServer(start('console.error("no luck"); process.exit(3)'))).rejects.toThrow(
      'initialize: it ended with 3; it said: no luck',
    );
    await expect(tryServer({ ...start(''), command: '/nowhere/node' })).rejects.toThrow('ENOENT');
    const angry = `process.stdin.once('data', () => console.log('noise\\n{"id":1,"error":{"message":"go away"}}'))`;
    await expect(tryServer(start(angry))).rejects.toThrow('initialize: go away');
  });
});
