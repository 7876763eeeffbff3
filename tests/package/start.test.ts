import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, cpSync, mkdirSync, readFileSync, realpathSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { findOnPath } from '../../src/doors/find-program.ts';
import { collect, sleep, survivors } from '../support/nacre.ts';
import { blocks } from '../support/pages.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

// A build takes several seconds on a busy machine.
vi.setConfig({ testTimeout: 90_000, hookTimeout: 90_000 });

const folder = temporaryFolder();
const [clone, home, bin] = [join(folder, 'a clone'), join(folder, 'a home'), join(folder, 'bin')];
const mark = `NACRE_TEST_PLACE=${folder}`;
const ordinary = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
const env = {
  PATH: bin,
  HOME: home,
  PLACE: mark,
  NACRE_PORT: '0',
  NACRE_LOGIN_ENV: 'never',
  npm_config_cache: join(home, 'npm-cache'),
  npm_config_offline: 'true',
  npm_config_update_notifier: 'false',
  // Only root can write there, so that installing anything globally fails.
  npm_config_prefix: '/nonexistent',
};
const options = { cwd: clone, env, ...ordinary };

beforeAll(() => {
  copyTree();
  for (const path of [clone, home, bin]) mkdirSync(path, { recursive: true });
  for (const name of ['node', 'npm', 'bash', 'sh']) symlinkSync(programPath(name), join(bin, name));
  chmodSync(folder, 0o755);
  if (ordinary.uid !== undefined)
    for (const path of [clone, home]) chownSync(path, ordinary.uid, ordinary.gid);
});

describe('with Node, npm and bash alone, as an ordinary user, in a tree without .git', () => {
  test('npm start builds and serves, and the link to open is the last line that it prints', async () => {
    const started = start('npm start');
    const link = await started.link();
    expect(started.text()).toContain('> Building');
    expect(started.text().trimEnd().split('\n').at(-1)).toBe(`  ${link}`);
    expect(started.text()).not.toMatch(/apt-get|chromium|EACCES/);
    const printed = nacre('init', '--print');
    expect(printed.status).toBe(0);
    expect(started.text()).toContain(printed.stdout);
    expect((await fetch(link)).status).toBe(200);
    expect(nacre('run', 'echo it runs; exit 3')).toMatchObject({ status: 3, stdout: 'it runs\n' });
    const again = nacre('open', '--print').stdout.trim();
    expect((await fetch(again)).status).toBe(200);
    expect(await started.stop()).toContain('nacre: ended: 0 of 0 open calls');
    expect(await survivors(mark)).toEqual([]);
  });

  test('the first block of the README works, and builds nothing that is built already', async () => {
    const [block = ''] = blocks('README.md', 'sh');
    const [first = '', ...lines] = block.trim().split('\n');
    expect(first).toMatch(/^npm start\b/);
    const started = start(first);
    expect((await fetch(await started.link())).status).toBe(200);
    expect(started.text()).not.toContain('> Building');
    expect(lines).not.toEqual([]);
    for (const line of lines) expect(run(line), line).toMatchObject({ status: 0, stderr: '' });
    expect(readFileSync(join(home, '.claude.json'), 'utf8')).toContain(join(clone, 'dist', 'cli.js'));
    expect(await started.stop()).toContain('nacre: ended: 0 of 0 open calls');
    expect(await survivors(mark)).toEqual([]);
  });
});

/** Starts a line of shell in its own process group, as a terminal does. */
function start(line: string) {
  const child = spawn('bash', ['-c', line], {
    ...options,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const [out, err] = [collect(child.stdout), collect(child.stderr)];
  return {
    text: out.text,
    async link() {
      for (;;) {
        const [, link] = /^ {2}(http\S+\/open\?ticket=\S+)$/m.exec(out.text()) ?? [];
        if (link !== undefined) return link;
        if (child.exitCode !== null) throw new Error(`It ended: ${out.text()}${err.text()}`);
        await sleep(20);
      }
    },
    /** Sends SIGINT to the whole group, as Ctrl-C does, and returns what was written to stderr. */
    async stop() {
      process.kill(-Number(child.pid), 'SIGINT');
      await once(child, 'close');
      return err.text();
    },
  };
}

function nacre(...words: string[]) {
  return spawnSync('node', ['dist/cli.js', ...words], { ...options, encoding: 'utf8' });
}

function run(line: string) {
  return spawnSync('bash', ['-c', line], { ...options, encoding: 'utf8' });
}

function programPath(name: string): string {
  const found = name === 'node' ? process.execPath : findOnPath(process.env.PATH ?? '', name);
  return realpathSync(found ?? name);
}

// Linked instead of copied where that is possible: node_modules has hundreds of megabytes.
function copyTree(): void {
  for (const name of ['src', 'scripts', 'examples']) cpSync(name, join(clone, name), { recursive: true });
  for (const name of ['package.json', 'package-lock.json', 'tsconfig.json', 'tsconfig.types.json'])
    cpSync(name, join(clone, name));
  const { status } = spawnSync('cp', ['-al', 'node_modules', clone], { stdio: 'ignore' });
  if (status !== 0) cpSync('node_modules', join(clone, 'node_modules'), { recursive: true, force: true });
}
