import { chmodSync, existsSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { examineClients } from '../../src/doors/cli/doctor/examine-clients.ts';
import { examineFolders } from '../../src/doors/cli/doctor/examine-folders.ts';
import { examineMachine, examineNode, examineReport } from '../../src/doors/cli/doctor/examine-machine.ts';
import { examinePolicy } from '../../src/doors/cli/doctor/examine-policy.ts';
import type { Finding } from '../../src/doors/cli/doctor/finding.ts';
import { tryServer } from '../../src/worker/trial/try-server.ts';
import { builtCli } from '../support/build.ts';
import { createTestDeps } from '../support/door-deps.ts';
import { needLevel } from '../support/needs.ts';
import { pathWithout } from '../support/path-without.ts';
import { useHome } from '../support/use-home.ts';

const { at, nacre, place, put, read, setEnv } = useHome();

async function examine(...flags: string[]) {
  const { code, stdout } = await nacre('doctor', '--json', ...flags);
  const { findings, error } = JSON.parse(stdout) as { findings: Finding[]; error?: { code: string } };
  return { code, findings, error, of: (check: string) => findings.filter((one) => one.check === check) };
}

/** The findings about the machine, without starting a server. */
async function examineMachineOnly() {
  const deps = await createTestDeps([], place());
  const report = await (await deps.engine()).report();
  const all = [...examineMachine(deps), ...examineReport(report, deps)];
  await deps.close();
  return (check: string) => all.filter((one) => one.check === check);
}

/** The findings about clients and policy, without the engine and without starting a server. */
async function examineConfigurations() {
  const deps = await createTestDeps([], place());
  const { findings, isListed } = examineClients(deps);
  const all = [...findings, examinePolicy(deps, isListed)];
  return (check: string) => all.filter((one) => one.check === check);
}

describe('E9: nacre doctor', () => {
  it('finds no problem on this machine, and makes a call over MCP with the same settings', async () => {
    const { code, findings, of } = await examine('--allow', 'echo,ls', '--state-dir', 'own');
    expect(code).toBe(0);
    const checks = ['node', 'git', 'folder', 'quotas', 'bash', 'bubblewrap', 'namespaces', 'terminal'];
    for (const check of [...checks, 'policy', 'mcp'])
      expect(
        of(check).map(({ status }) => status),
        check,
      ).toContain('ok');
    expect(of('policy')[0]?.found).toBe('2 programs may run (--allow)');
    expect(of('mcp')[0]?.found).toMatch(
      /^an MCP call over stdio \(2025-06-18, \d+ tools\) was answered in \d+ ms$/,
    );
    expect(of('enforcement')[0]?.found).toContain('supervision namespace, sandbox off');
    expect(of('clients')).toMatchObject([{ status: 'warning', fix: 'nacre init CLIENT' }]);
    for (const { status, fix } of findings)
      expect(['warning', 'problem'].includes(status) ? fix : 'x').toBeTruthy();
    expect(readdirSync(at('own')).filter((name) => name.startsWith('.doctor'))).toEqual([]);
    // The server that it starts gets the same settings, so it uses `own` as well.
    expect(existsSync(at('.local'))).toBe(false);
  });

  it('reports invalid settings instead of failing', async () => {
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

  it('names the package that provides a missing program', async (context) => {
    await needLevel(context, 'unshare');
    const bin = pathWithout(place().cwd, { hidden: ['git', 'bwrap'] });
    setEnv({ PATH: bin });
    const of = await examineMachineOnly();
    expect(of('git')).toMatchObject([{ status: 'warning', fix: expect.stringMatching(/ git$/) }]);
    expect(of('bubblewrap')).toMatchObject([
      { status: 'warning', fix: expect.stringMatching(/ bubblewrap$/) },
    ]);
  });

  it('does not propose bubblewrap where namespaces cannot be created', async () => {
    setEnv({ PATH: pathWithout(place().cwd, { hidden: ['bwrap'], broken: ['unshare'] }) });
    const of = await examineMachineOnly();
    for (const check of ['bubblewrap', 'namespaces'])
      expect(of(check)).toMatchObject([
        { status: 'warning', fix: expect.not.stringMatching(/install|bubblewrap/) },
      ]);
  });

  it('distinguishes a bubblewrap that fails from a missing one', async () => {
    const bin = pathWithout(place().cwd, { broken: ['bwrap', 'unshare'] });
    setEnv({ PATH: bin });
    const [found] = (await examineMachineOnly())('bubblewrap');
    expect(found?.found).toContain(`${bin}/bwrap`);
    expect(found?.fix).not.toMatch(/install|apt|dnf|apk/);
  });

  it('finds folders that are not writable and quotas that exceed the free space', async () => {
    put('state', 'a file');
    setEnv({ NACRE_STATE_DIR: at('state'), NACRE_SPOOL_TOTAL_BYTES: '1099511627776' });
    const { code, of, error } = await examine();
    expect([code, error?.code]).toEqual([1, 'resources_unavailable']);
    expect(of('folder')[0]).toMatchObject({
      status: 'problem',
      fix: 'Choose another folder with NACRE_STATE_DIR.',
    });
    expect(of('quotas')).toMatchObject([{ status: 'warning', found: expect.stringContaining('is free at') }]);
    const flags = ['--record', '--record-max-bytes', '2097152'];
    const folders = examineFolders(await createTestDeps(flags, place()));
    expect(folders.filter(({ check }) => check === 'quotas')).toMatchObject([
      {
        found: expect.stringContaining(', and recordings up to 0.0 GiB may be kept'),
        fix: 'Free some space, or lower NACRE_SPOOL_TOTAL_BYTES, NACRE_AUDIT_MAX_BYTES, and NACRE_RECORD_MAX_BYTES.',
      },
    ]);
    expect(of('engine')).toMatchObject([{ status: 'problem' }]);
  });
});

describe('nacre doctor about clients', () => {
  it('shows what each client may run, and warns if none may run anything', async () => {
    put('.config/nacre/config.yaml', 'sandbox: off\n');
    const entry = { command: process.execPath, args: [builtCli, 'mcp'], env: { NACRE_PRESET: 'git' } };
    put('.gemini/settings.json', JSON.stringify({ mcpServers: { nacre: entry } }));
    const listed = await examineConfigurations();
    expect(listed('policy')).toMatchObject([
      { status: 'ok', found: expect.stringContaining('each client has its list in its entry') },
    ]);
    expect(listed('client:gemini')[0]?.found).toContain('starts this nacre: the preset git, sandbox off');
    put('.gemini/settings.json', read('.gemini/settings.json').replace('NACRE_PRESET', 'OTHER'));
    const empty = await examineConfigurations();
    expect(empty('policy')).toMatchObject([{ status: 'warning' }]);
    expect(empty('client:gemini')).toMatchObject([
      { status: 'warning', fix: 'nacre init gemini --preset NAME' },
    ]);
  });

  it('warns about an entry whose folder is not a valid workspace, unless one is named', async () => {
    await nacre('init', 'gemini', '--preset', 'git', '--sandbox', 'off', '--project', '/srv');
    const text = read('.gemini/settings.json');
    put('.config/nacre/config.yaml', 'preset: git\nsandbox: workspace\n');
    expect((await examineConfigurations())('client:gemini')).toMatchObject([
      {
        status: 'warning',
        found: expect.stringContaining('names /srv, where sandbox level workspace refuses'),
      },
    ]);
    put('.gemini/settings.json', text.replace('"mcp"', '"mcp", "--workspace=/srv/project"'));
    expect((await examineConfigurations())('client:gemini')).toMatchObject([{ status: 'ok' }]);
    put('.gemini/settings.json', text);
    put('.config/nacre/config.yaml', 'preset: git\nsandbox: workspace\nworkspace: [/srv/project]\n');
    expect((await examineConfigurations())('client:gemini')).toMatchObject([{ status: 'ok' }]);
  });

  it('warns about a missing folder, whether the entry uses --cwd DIR or --cwd=DIR', async () => {
    await nacre('init', 'gemini', '--preset', 'git', '--sandbox', 'off');
    const text = read('.gemini/settings.json');
    for (const flag of ['"--cwd", "/gone/project"', '"--cwd=/gone/project"']) {
      put('.gemini/settings.json', text.replace('"mcp"', `"mcp", ${flag}`));
      expect((await examineConfigurations())('client:gemini')).toMatchObject([
        { status: 'warning', found: expect.stringContaining('names /gone/project, which does not exist') },
      ]);
    }
  });

  it('reads the configuration of every client, and starts none of their servers', async () => {
    mkdirSync(at('work'));
    await nacre('init', 'claude-code', '--sandbox', 'workspace', '--project', 'work', '--yes');
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
    const of = await examineConfigurations();
    expect(of('client:claude-code')).toMatchObject([
      {
        status: 'ok',
        found: expect.stringMatching(
          /^Claude Code: .*\.claude\.json starts this nacre: programs from your settings, sandbox workspace/,
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

describe('nacre doctor with unusual files', () => {
  it('prints each finding with its fix, escapes control characters, and continues after an unreadable file', async () => {
    put('.mcp.json', JSON.stringify({ mcpServers: { nacre: { command: '/x/\u001b[2Jnode' } } }));
    symlinkSync('loop', at('.claude.json'));
    put('.codex', 'a file');
    mkdirSync(at('.gemini/settings.json'), { recursive: true });
    const { code, stdout } = await nacre('doctor');
    expect(code).toBe(0);
    expect(stdout).toContain('\\u{1b}[2Jnode, which does not exist');
    expect(stdout).not.toContain('\u001b');
    expect(stdout).toMatch(/Gemini CLI: .* it is not a regular file/);
    // Every finding is a line with its fix.
    expect(stdout).toMatch(/^ok {7}node: Node\.js \d/m);
    expect(stdout).toMatch(
      /^warning {2}policy: ALLOWED_COMMANDS is not set.*\n {9}→ nacre init CLIENT --preset NAME$/m,
    );
    expect(stdout).toMatch(/^note {5}mcp: .* the command echo did not run: echo is not allowed/m);
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

  it('names the step at which a server did not answer, and kills the server', async () => {
    await expect(
      tryServer(start('setTimeout(() => {}, 1e6)'), { answerMs: 300, exitMs: 100 }),
    ).rejects.toThrow('initialize: there was no answer within 300 ms');
    await expect(tryServer(start('console.error("no luck"); process.exit(3)'))).rejects.toThrow(
      'initialize: it ended with 3; it said: no luck',
    );
    await expect(tryServer({ ...start(''), command: '/nowhere/node' })).rejects.toThrow('ENOENT');
    const angry = `process.stdin.once('data', () => console.log('noise\\n{"id":1,"error":{"message":"go away"}}'))`;
    await expect(tryServer(start(angry))).rejects.toThrow('initialize: go away');
  });
});
