import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { presets } from '../../src/policy/presets.ts';
import { createPlace, runInProcess, survivors } from '../support/nacre.ts';

let place = createPlace();
const nacre = (...argv: string[]) => runInProcess(argv, place);

afterEach(async () => {
  expect(await survivors(place.mark)).toEqual([]);
  place = createPlace();
});

function write(path: string, text: string): string {
  const full = join(place.cwd, path);
  mkdirSync(dirname(full), { recursive: true });
  writeFileSync(full, text);
  return full;
}

describe('E8: nacre config', () => {
  it('lists every setting by its key, with its value and origin', async () => {
    place = createPlace({ NACRE_RING_BYTES: '2MiB', NACRE_MAX_RUNNING: '100' });
    const user = write('.config/nacre/config.yaml', '# mine\ndrain_ms: 50\nallowed_commands: [git, ls]\n');
    const project = write('nacre.yaml', 'max_running: 5\nallowed_commands: [git]\n');
    const { code, stdout } = await nacre('config', '--json', '--max-output-chars', '1000');
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      max_output_chars: { value: 1000, source: 'flag', where: '--max-output-chars' },
      ring_bytes: { value: 2_097_152, source: 'environment', where: 'NACRE_RING_BYTES' },
      max_running: {
        value: 5,
        source: 'environment',
        where: 'NACRE_MAX_RUNNING',
        tightened_by: `${project}:1`,
      },
      drain_ms: { value: 50, source: 'user', where: `${user}:2` },
      allowed_commands: { value: ['git'], source: 'user', where: `${user}:3`, tightened_by: `${project}:2` },
      danger: { value: 'block', source: 'default', where: 'default' },
      state_dir: { value: null, source: 'default', where: 'default' },
    });
    const table = (await nacre('config')).stdout.replace(/ {2,}/g, '  ');
    expect(table).toContain(`max_running  5  (NACRE_MAX_RUNNING, tightened by ${project}:1)\n`);
    expect(table).toContain('state_dir  unset  (default)\n');
  });

  it('shows the limit that a project file adds to a value', async () => {
    const project = write('nacre.yaml', 'allowed_commands: [git]\n');
    const table = (await nacre('config')).stdout.replace(/ {2,}/g, '  ');
    expect(table).toContain(`allowed_commands  unset  (default, limited to ["git"] by ${project}:1)\n`);
    const document = JSON.parse((await nacre('config', '--json')).stdout);
    expect(document.allowed_commands).toMatchObject({
      value: null,
      limit: ['git'],
      tightened_by: `${project}:1`,
    });
  });

  it('--origin explains each value, and when a change takes effect', async () => {
    place = createPlace({
      NACRE_MAX_RUNNING: '100',
      NACRE_PRESET: 'git',
      NACRE_TOKEN: 'secret-secret-secret',
    });
    const user = write(
      '.config/nacre/config.yaml',
      'max_running: 7\nallowed_commands: [ls]\ntoken: other-other-other\n',
    );
    const project = write('nacre.yaml', 'max_running: 5\n');
    const { stdout } = await nacre(
      'config',
      '--origin',
      'max_running',
      'allowed_commands',
      'token',
      'danger',
    );
    expect(stdout).toBe(`allowed_commands: ${JSON.stringify(presets.git.allowedCommands)}
  set by NACRE_PRESET (an environment variable)
  from the preset git
  overrides ${user}:2 (your settings file): ["ls"]
  a change in your settings file takes effect with the next command
danger: "block"
  not set, so the default applies
  a change in your settings file takes effect with the next command
token: "(hidden)"
  set by NACRE_TOKEN (an environment variable)
  overrides ${user}:3 (your settings file): "(hidden)"
  a change in your settings file takes effect after a restart of the server
max_running: 5
  set by NACRE_MAX_RUNNING (an environment variable)
  overrides ${user}:1 (your settings file): 7
  tightened by ${project}:1 (the project file)
  a change in your settings file takes effect after a restart of the server
`);
    const document = JSON.parse((await nacre('config', '--json', 'max_running')).stdout);
    expect(document).toEqual({
      max_running: {
        value: 5,
        source: 'environment',
        where: 'NACRE_MAX_RUNNING',
        tightened_by: `${project}:1`,
        outranked: [{ source: 'user', where: `${user}:1`, value: 7 }],
      },
    });
    expect((await nacre('config', '--origin')).stdout).not.toContain('secret-secret');
    const unknown = await nacre('config', 'max_runing');
    expect([unknown.code, unknown.stderr]).toEqual([
      125,
      expect.stringContaining('Did you mean max_running?'),
    ]);
  });

  it('--origin shows the limit of a project file', async () => {
    const project = write('nacre.yaml', 'allowed_commands: [git]\n');
    const { stdout } = await nacre('config', '--origin', 'allowed_commands');
    expect(stdout).toContain(`  limited to ["git"] by ${project}:1 (the project file)\n`);
  });

  it('warns about a newer nacre that is installed elsewhere', async () => {
    write('new/package.json', '{"name":"nacre","version":"99.0.0"}');
    write('new/bin/nacre', '');
    place = { ...place, env: { ...place.env, PATH: `${join(place.cwd, 'new/bin')}:/usr/bin:/bin` } };
    expect((await nacre('config')).stderr).toContain(
      `warning: nacre 99.0.0 is installed in ${join(place.cwd, 'new')}`,
    );
    expect((await nacre('run', 'true')).stderr).toBe('');
  });

  it('warns about unknown variables and missing roots', async () => {
    place = createPlace({
      NACRE_RING_BITES: '1',
      ALLOWED_CWD_ROOTS: '/does/not/exist',
      NACRE_COMMAND_ID: 'cmd_1',
      NACRE_INSTANCE: 'server',
    });
    const { code, stderr } = await nacre('config');
    expect(code).toBe(0);
    expect(stderr).toMatch(/NACRE_RING_BITES is not a setting.*Did you mean NACRE_RING_BYTES\?/);
    expect(stderr).toMatch(/ALLOWED_CWD_ROOTS lists \/does\/not\/exist/);
    expect(stderr).not.toMatch(/NACRE_(COMMAND_ID|INSTANCE)/);
  });
});

describe('E8: settings', () => {
  it('that are invalid abort the start, all in one message, with their names and the accepted values', async () => {
    place = createPlace({ NACRE_DANGER: 'maybe', NACRE_RING_BYTES: '5' });
    const user = write('.config/nacre/config.yaml', 'drain_ms: soon\nringbytes: 1\n');
    const { code, stdout, stderr } = await nacre('run', 'touch ran');
    expect([code, stdout]).toEqual([125, '']);
    expect(stderr).toContain('NACRE_DANGER: danger cannot be "maybe"; expected one of off, block.');
    expect(stderr).toContain(
      'NACRE_RING_BYTES: ring_bytes cannot be "5"; expected a whole number from 4096 to',
    );
    expect(stderr).toContain(`${user}:1: drain_ms cannot be "soon"`);
    expect(stderr).toContain(`${user}:2: There is no setting ringbytes. Did you mean ring_bytes?`);
  });

  it('of a project file can only be stricter', async () => {
    write('nacre.yaml', 'allowed_commands: ["*"]\n');
    place = { ...place, env: { ...place.env, ALLOWED_COMMANDS: 'ls' } };
    expect((await nacre('run', 'pwd')).code).toBe(126);
    write('nacre.yaml', 'bash: ./mine\n');
    const { code, stderr } = await nacre('run', 'true');
    expect([code, stderr]).toEqual([125, expect.stringContaining('bash is not allowed in a project file')]);
  });

  it('P12: of a project file also apply to the local user, in every folder below', async () => {
    write('nacre.yaml', 'allowed_commands: [ls]\n');
    mkdirSync(join(place.cwd, 'a/b'), { recursive: true });
    const below = { ...place, cwd: join(place.cwd, 'a/b'), env: { ...place.env, HOME: '/nonexistent' } };
    const state = ['--state-dir', join(place.cwd, 'state')];
    expect((await runInProcess(['run', ...state, 'pwd'], below)).code).toBe(126);
    expect((await runInProcess(['run', ...state, 'ls'], below)).code).toBe(0);
  });

  it('come from the file that --config names, relative to the working directory', async () => {
    write('.config/nacre/config.yaml', 'allowed_commands: [ls]\n');
    write('other.yaml', 'allowed_commands: [pwd]\nstate_dir: elsewhere\n');
    expect((await nacre('run', 'pwd')).code).toBe(126);
    expect((await nacre('run', '--config', 'other.yaml', 'pwd')).stdout).toBe(`${place.cwd}\n`);
    const { stdout } = await nacre('config', '--json', '--config', 'other.yaml');
    expect(JSON.parse(stdout).state_dir.value).toBe(join(place.cwd, 'elsewhere'));
    const { code, stderr } = await nacre('run', '--config', 'missing.yaml', 'pwd');
    expect([code, stderr]).toEqual([125, expect.stringContaining(join(place.cwd, 'missing.yaml'))]);
  });

  it('come from XDG_CONFIG_HOME if it is set', async () => {
    write('xdg/nacre/config.yaml', 'allowed_commands: [ls]\n');
    place = { ...place, env: { ...place.env, XDG_CONFIG_HOME: join(place.cwd, 'xdg') } };
    expect((await nacre('run', 'pwd')).code).toBe(126);
  });
});

describe('nacre doctor', () => {
  it('shows what it detected', async () => {
    place = createPlace({ API_TOKEN: 'x', ALLOWED_CWD_ROOTS: '/does/not/exist' });
    const { code, stdout } = await nacre('doctor');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^nacre +\d+\.\d+\.\d+\nNode\.js +v\d+/);
    expect(stdout).toMatch(/^bash +[5-9]\.\d.* at \/.*bash$/m);
    expect(stdout).toMatch(/^PATH +\/usr\/local\/bin:\/usr\/bin:\/bin$/m);
    expect(stdout).toMatch(/^withheld variables +API_TOKEN$/m);
    expect(stdout).toMatch(/^supervision +namespace$/m);
    expect(stdout).toMatch(/^network +on$/m);
    expect(stdout).toMatch(/^listed programs +judged by policy only$/m);
    expect(stdout).toMatch(/^Landlock +\S/m);
    expect(stdout).toMatch(/^warning +ALLOWED_CWD_ROOTS/m);
    expect(stdout).not.toMatch(/undefined|null/);
  });

  it('--json prints one document, and the state is below XDG_STATE_HOME', async () => {
    const state = join(place.cwd, 'xdg');
    place = { ...place, env: { ...place.env, XDG_STATE_HOME: state } };
    const { stdout } = await nacre('doctor', '--json');
    expect(JSON.parse(stdout)).toMatchObject({
      version: expect.stringMatching(/^\d/),
      node: process.version,
      bash: { path: expect.stringMatching(/^\//), version: expect.any(String) },
      path: '/usr/local/bin:/usr/bin:/bin',
      login_environment: expect.any(String),
      withheld_env: [],
      state_folder: expect.stringMatching(new RegExp(`^${state}/nacre/run/`)),
      process_table: expect.any(String),
      supervision: 'namespace',
      sandbox: 'off',
      network: 'on',
      gaps: expect.any(Array),
      warnings: [],
    });
  });

  it('exits with 1 and explains why commands cannot run', async () => {
    place = createPlace({ NACRE_BASH: '/bin/false' });
    expect(await nacre('doctor')).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('problem  engine: /bin/false could not be run as bash.'),
      stderr: expect.stringContaining('/bin/false'),
    });
  });
});
