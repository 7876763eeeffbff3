import { describe, expect, it } from 'vitest';
import { parseFlags } from '../settings/parse-flags.ts';
import { resolveSettings } from '../settings/resolve-settings.ts';
import { toHelpRows } from '../settings/to-help-rows.ts';
import { allSettings, type Settings, settingGroups } from './all-settings.ts';

describe('all settings together', () => {
  it('E8: every setting of every folder is included once', () => {
    const names = Object.values(settingGroups).flatMap((group) => Object.keys(group));
    expect(Object.keys(allSettings)).toHaveLength(names.length);
    expect(Object.keys(allSettings).sort()).toEqual([...names].sort());
  });

  it('have these defaults', () => {
    const values: Settings = resolveSettings({}, allSettings).values;
    expect(values).toEqual({
      ...{ terminalTimeoutMs: 55_000, terminalTimeoutMaxMs: 600_000 },
      ...{ bashTimeoutMs: 120_000, bashTimeoutMaxMs: 600_000 },
      ...{ shellExecuteTimeoutMs: 300_000, shellExecuteTimeoutMaxMs: 1_800_000 },
      allowedCwdRoots: [],
      programDirs: [],
      fileWrites: 'any',
      danger: 'block',
      confirm: 'never',
      approvalSeconds: 600,
      policy: [],
      sandbox: 'off',
      changes: 'direct',
      changesBytes: 5_368_709_120,
      changesDays: 30,
      changesFileBytes: 1_073_741_824,
      changesLarge: 'refuse',
      workspace: [],
      homeShow: [],
      unprotected: [],
      network: 'off',
      networkAllow: [],
      ports: [],
      processes: 'own',
      supervisionRequire: 'group',
      keep: [],
      exec: 'auto',
      warmShells: 2,
      sessionIdleMs: 1_800_000,
      tools: ['terminal'],
      toolPrefix: '',
      onTimeout: 'kill',
      orphanMs: 86_400_000,
      outlive: 'auto',
      httpHost: '127.0.0.1',
      httpPort: 7433,
      tokens: [],
      shellAllowlist: [
        ...['git', 'ls', 'cat', 'head', 'tail', 'grep', 'find', 'wc', 'diff'],
        ...['docker', 'npm', 'npx', 'make', 'cargo', 'go', 'python', 'pip'],
      ],
      terminalShells: [],
      execTimeoutMs: 60_000,
      execMaxBufferBytes: 10_485_760,
      httpMaxRunning: 16,
      httpMaxQueued: 512,
      httpHosts: [],
      corsOrigins: [],
      appletOrigins: 'name',
      insecure: false,
      mcpResumeMs: 30_000,
      mcpIdleMs: 3_600_000,
      shutdownMs: 5_000,
      shellExecuteCwdRoots: [],
      shellExecuteEnvPass: [],
      shellExecuteEnvWithhold: [],
      ringBytes: 1_048_576,
      spoolBytes: 268_435_456,
      spoolTotalBytes: 2_147_483_648,
      drainMs: 100,
      killGraceMs: 2_000,
      loginEnv: 'auto',
      machines: {},
      envPass: [],
      envWithhold: [],
      maxOutputChars: 30_000,
      reply: 'auto',
      tombstoneSeconds: 3_600,
      maxRunning: 64,
      auditFsync: 'interval',
      auditKeepDays: 400,
      auditMaxBytes: 1_073_741_824,
      redactOutput: false,
      record: false,
      recordMaxBytes: 1_073_741_824,
      logLevel: 'off',
      logFormat: 'pretty',
      traces: false,
    });
  });

  it("T5, T8: accept the specification's variable names", () => {
    const env = { ALLOWED_COMMANDS: 'ls, cat', ALLOWED_CWD_ROOTS: '/srv, /nowhere/at/all' };
    const { values } = resolveSettings({ env }, allSettings);
    expect(values).toMatchObject({
      allowedCommands: ['ls', 'cat'],
      allowedCwdRoots: ['/srv', '/nowhere/at/all'],
    });
  });

  it('E5: a project file can withhold more variables but not pass any', () => {
    const project = { path: '/repo/nacre.yaml', text: 'env_pass: [AWS_*]\nenv_withhold: [CI_*]\n' };
    const { values } = resolveSettings({ env: { NACRE_ENV_WITHHOLD: 'X' }, project }, allSettings);
    expect(values).toMatchObject({ envPass: [], envWithhold: ['X', 'CI_*'] });
  });

  it('S5: a project file can lower or set a limit, but not raise one', () => {
    const text = 'memory_bytes: 64MiB\ncpu_seconds: 90\nmax_processes: 50\n';
    const env = { NACRE_MEMORY_BYTES: '1GiB', NACRE_CPU_SECONDS: '1min' };
    const { values } = resolveSettings({ env, project: { path: '/repo/nacre.yaml', text } }, allSettings);
    expect(values).toMatchObject({ memoryBytes: 67_108_864, cpuSeconds: 60, maxProcesses: 50 });
    expect(values).not.toHaveProperty('fileBytes');
  });

  it('refuse an invalid variable name', () => {
    const flags = parseFlags(['--env-pass', 'A-B'], allSettings);
    expect(() => resolveSettings({ flags }, allSettings)).toThrow('a comma-separated list of variable names');
  });

  it('E8: a project file can only shorten the list of hosts', () => {
    const flags = parseFlags(
      ['--network-allow', 'a.example, *.b.example:8443, [::1]:*, ::1, 192.0.2.1'],
      allSettings,
    );
    const project = { path: '/repo/nacre.yaml', text: 'network_allow: ["*.b.example:8443", c.example]\n' };
    expect(resolveSettings({ flags }, allSettings).values.networkAllow).toHaveLength(5);
    expect(resolveSettings({ flags, project }, allSettings).values.networkAllow).toEqual([
      '*.b.example:8443',
    ]);
    expect(resolveSettings({ project }, allSettings).values.networkAllow).toEqual([]);
  });

  it.each([
    '*',
    'https://a.example',
    'a.example/x',
    'user@a.example',
    'a.*.example',
    'a.example:',
    ':80',
    '*.',
  ])('refuse %s as a host', (host) => {
    const flags = parseFlags(['--network-allow', host], allSettings);
    expect(() => resolveSettings({ flags }, allSettings)).toThrow('a comma-separated list of hosts');
  });

  it('appear in the help, each with its flag', () => {
    const flags = toHelpRows(allSettings).map(({ left }) => left);
    expect(flags).toContain('--allow LIST');
    // `policy`, `tokens` and `machines` can be set only in a file, and `token` has no flag so that `ps` never shows it.
    const { policy: _rules, tokens: _names, machines: _others, token: _secret, ...withFlag } = allSettings;
    expect(flags).toHaveLength(Object.keys(withFlag).length);
  });
});
