import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { type EventEmitter, once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { toExecStart, toUnit } from '../src/doors/cli/unit/to-unit.ts';
import { builtCli } from './support/build.ts';
import { createPlace, startInProcess, startReal, survivors } from './support/nacre.ts';
import { temporaryFolder } from './support/temporary-folder.ts';

const toFreePort = (word: string) => word.replace('7433', '0');
const verify = (path: string) =>
  execFileSync('systemd-analyze', ['verify', path], { encoding: 'utf8', stdio: 'pipe' });

/** The value of a key of a unit; a line that ends in a backslash continues. */
const settingOf = (unit: string, key: string) =>
  new RegExp(`^${key}=((?:.*\\\\\n)*.*)$`, 'm').exec(unit)?.[1]?.replaceAll('\\\n', ' ') ?? '';

type TestPlace = ReturnType<typeof createPlace>;
type Child = Pick<ReturnType<typeof startReal>, 'stdout' | 'kill'> & EventEmitter;

async function expectServer(child: Child, { cwd, mark }: TestPlace): Promise<void> {
  const [greeting] = await once(child.stdout, 'data');
  expect(String(greeting)).toMatch(/^nacre \S+ serves on http:\/\/127\.0\.0\.1:\d+\n/);
  const file = join(cwd, '.config', 'nacre', 'token');
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(String(greeting)).not.toContain(readFileSync(file, 'utf8').trim());
  child.kill('SIGTERM');
  expect(await once(child, 'exit')).toEqual([0, null]);
  expect(await survivors(mark)).toEqual([]);
}

describe('the systemd unit in packaging/', () => {
  const path = 'packaging/nacre.service';
  const unit = readFileSync(path, 'utf8');

  test('passes systemd-analyze verify', () => {
    expect(verify(path)).toBe('');
    expect(Number(settingOf(unit, 'TimeoutStopSec')) * 1_000).toBeGreaterThan(5_000 + 2 * 2_000);
  });

  // systemd expands no variable in `$$`, and passes the quoted text as one argument.
  const [, script = ''] = /^\/bin\/sh -c '([^']*)'$/.exec(settingOf(unit, 'ExecStart')) ?? [];
  const shell = (home: string, path: string) =>
    spawn('/bin/sh', ['-c', toFreePort(script.replaceAll('$$', '$'))], {
      env: { HOME: home, PATH: path, NACRE_LOGIN_ENV: 'never' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
  const install = (folder: string, name: string, text: string) => {
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, name), `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  };

  test.each([
    [
      'nvm, the newest version that has it',
      ['.nvm/versions/node/v20.19.0/bin', '.nvm/versions/node/v22.1.0/bin'],
    ],
    ['fnm', ['.local/share/fnm/node-versions/v22.1.0/installation/bin']],
    ['an npm prefix', ['.npm-global/bin']],
    ['~/.local rather than the system', ['.local/bin']],
  ])('finds nacre below %s', async (_, folders) => {
    const home = join(temporaryFolder(), 'a home');
    for (const folder of folders) install(join(home, folder), 'nacre', 'echo "$0" "$@"');
    install(join(home, '.nvm/versions/node/v24.0.0/bin'), 'node', 'exit 9');
    install(join(home, 'system'), 'nacre', 'echo system');
    const [line] = await once(shell(home, join(home, 'system')).stdout, 'data');
    const found = join(home, folders.at(-1) ?? '', 'nacre');
    expect(String(line)).toBe(`${found} serve --port=0 --token-file=${home}/.config/nacre/token\n`);
  });

  test('starts nacre with the node of nvm, although nacre is in ~/.local', async () => {
    const place = createPlace();
    const home = place.cwd;
    install(
      join(home, '.nvm/versions/node/v22.1.0/bin'),
      'node',
      `touch "$HOME/used"; exec '${process.execPath}' "$@"`,
    );
    mkdirSync(join(home, '.local', 'bin'), { recursive: true });
    symlinkSync(builtCli, join(home, '.local', 'bin', 'nacre'));
    await expectServer(shell(home, '/usr/bin:/bin'), place);
    expect(existsSync(join(home, 'used'))).toBe(true);
  });
});

describe('nacre unit', () => {
  const run = async (place: TestPlace, ...words: string[]) =>
    (await startInProcess(['unit', ...words], place).ended).stdout;

  test('prints a unit that names this node and script, and passes systemd-analyze verify', async () => {
    const place = createPlace();
    const unit = await run(place);
    const words = settingOf(unit, 'ExecStart').split(' ');
    expect(words).toEqual([
      process.execPath,
      expect.stringMatching(/^\//),
      'serve',
      '--port=7433',
      '--token-file=%h/.config/nacre/token',
    ]);
    const path = join(place.cwd, 'nacre.service');
    writeFileSync(path, unit);
    expect(verify(path)).toBe('');
    const flags = words.slice(2).map((word) => toFreePort(word.replace('%h', place.cwd)));
    await expectServer(startReal(flags, place), place);
  });

  test('passes on the flags of nacre serve, with absolute paths', async () => {
    const place = createPlace();
    writeFileSync(join(place.cwd, 'c.yaml'), '');
    const unit = await run(
      place,
      '--port',
      '8080',
      '--preset=git',
      '--audit-dir',
      'a b',
      '--insecure',
      '--config',
      'c.yaml',
    );
    const start = settingOf(unit, 'ExecStart');
    expect(start).not.toContain('7433');
    for (const flag of ['--port=8080', '--preset=git', '--insecure=true', `--config=${place.cwd}/c.yaml`])
      expect(start.split(' ')).toContain(flag);
    expect(start).toContain(`"--audit-dir=${place.cwd}/a b"`);
  });

  const unitWith = (name: string) => {
    const folder = join(temporaryFolder(), name);
    mkdirSync(folder);
    const program = join(folder, 'node');
    writeFileSync(program, '#!/bin/sh\n', { mode: 0o755 });
    const path = join(folder, '..', 'nacre.service');
    const unit = toUnit([], toExecStart(program, ['serve']));
    writeFileSync(path, unit);
    return { path, program, start: settingOf(unit, 'ExecStart') };
  };

  test.each(['plain', 'a b', '100%h'])('names a node in the folder %s so that systemd finds it', (name) => {
    const { path, program } = unitWith(name);
    expect(verify(path)).toBe('');
    rmSync(program);
    // Shows that `verify` looks for the program at this path.
    expect(() => verify(path)).toThrow(/is not executable/);
  });

  test.each([
    ['a$HOME', '"', 'a$$HOME'],
    ['a"b', '"', 'a\\"b'],
    ['back\\slash', '"', 'back\\\\slash'],
    ["it's", '"', "it's"],
  ])('starts a node in the folder %s, which systemd would refuse, through sh', (name, quote, escaped) => {
    const { path, start } = unitWith(name);
    expect(verify(path)).toBe('');
    expect(start).toMatch(/^\/bin\/sh -c 'exec "\$\$@"' nacre "/);
    expect(start.endsWith(`/${escaped}/node${quote} serve`)).toBe(true);
  });
});

describe('the container image', () => {
  const dockerfile = readFileSync('packaging/Dockerfile', 'utf8').replaceAll('\\\n', ' ');
  const wordsOf = (instruction: string) =>
    JSON.parse(
      new RegExp(`^${instruction}[^[\\n]*(\\[.*\\])$`, 'm').exec(dockerfile)?.[1] ?? '[]',
    ) as string[];

  test('does not copy build results, runs as an ordinary user, and keeps its data in volumes', () => {
    const ignored = readFileSync('packaging/Dockerfile.dockerignore', 'utf8').split('\n');
    expect(ignored).toEqual(expect.arrayContaining(['node_modules', 'dist', '.git']));
    const last = dockerfile.slice(dockerfile.lastIndexOf('\nFROM '));
    expect(last.indexOf('\nUSER nacre\n')).toBeGreaterThan(0);
    expect(last.indexOf('\nUSER nacre\n')).toBeLessThan(last.indexOf('\nENTRYPOINT '));
    expect(wordsOf('VOLUME')).toEqual(['/home/nacre', '/workspace']);
  });

  test('has an ENTRYPOINT that starts a server, which its HEALTHCHECK finds ready', async () => {
    const place = createPlace();
    const [init, dashes, program, ...words] = wordsOf('ENTRYPOINT');
    expect([init, dashes, program]).toEqual(['tini', '--', 'nacre']);
    const home = (word: string) => word.replace('/home/nacre', place.cwd);
    const child = startReal(words.map(toFreePort).map(home), place);
    const [, port = ''] =
      /serves on http:\/\/localhost:(\d+)\n/.exec(String((await once(child.stdout, 'data'))[0])) ?? [];
    const [node, flag = '', script = ''] = wordsOf('HEALTHCHECK');
    expect([node, flag]).toEqual(['node', '-e']);
    const check = () => spawnSync(process.execPath, [flag, script.replace('7433', port)]).status;
    expect(check()).toBe(0);
    child.kill('SIGTERM');
    await once(child, 'exit');
    expect(check()).toBe(1);
    expect(await survivors(place.mark)).toEqual([]);
  });
});
