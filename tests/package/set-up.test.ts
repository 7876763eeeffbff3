import { spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFailed, test } from 'vitest';
import { needRoot } from '../support/needs.ts';
import { run } from '../support/packed.ts';
import { commandLine } from '../support/processes.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const ordinaryUid = 65_534;

describe('npm start', () => {
  const script = "import { readProject, toBuildProject } from './scripts/build-packages.mjs';";
  const print = 'console.log(JSON.stringify(toBuildProject(readProject())));';
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', `${script}${print}`], {
    encoding: 'utf8',
  });
  const { manifest, lock } = JSON.parse(stdout);
  const names = Object.keys(lock.packages).map((path) => path.replace(/^.*node_modules\//, ''));

  test('installs every package whose code is in the build, and none of the tests', () => {
    const notices = readFileSync('dist/THIRD_PARTY_NOTICES.md', 'utf8');
    const built = [...notices.matchAll(/^## (\S+) /gm)].map(([, name = '']) => name);
    expect(built.length).toBeGreaterThan(5);
    expect(names).toEqual(expect.arrayContaining([...built, 'esbuild', 'typescript']));
    for (const name of ['vitest', '@biomejs/biome', 'openai', 'playwright-core'])
      expect(names).not.toContain(name);
  });

  test('installs them with a lock file that npm accepts', () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
    writeFileSync(join(folder, 'package-lock.json'), JSON.stringify(lock));
    // Offline and without a cache, npm fails if the lock file does not contain all that the manifest needs.
    const printed = run('npm', ['ci', '--dry-run', '--ignore-scripts', '--no-audit'], {
      cwd: folder,
      home: folder,
    });
    expect(printed).toMatch(/added \d+ packages/);
  });

  test('installs them again if an interrupted start left some of them out', () => {
    const folder = temporaryFolder();
    for (const name of ['package.json', 'package-lock.json', 'scripts'])
      cpSync(name, join(folder, name), { recursive: true });
    // Creates a folder for each package of the lock file, and the list of them that npm would write.
    const npm = `#!${process.execPath}
      import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
      const prefix = process.argv.at(-1);
      const lock = readFileSync(prefix + '/package-lock.json', 'utf8');
      for (const path of Object.keys(JSON.parse(lock).packages)) mkdirSync(prefix + '/' + path, { recursive: true });
      writeFileSync(prefix + '/node_modules/.package-lock.json', lock);`;
    writeFileSync(join(folder, 'npm'), npm, { mode: 0o755 });
    const script =
      "import { installBuildPackages } from './scripts/build-packages.mjs'; await installBuildPackages();";
    const install = () =>
      spawnSync(process.execPath, ['--input-type=module', '-e', script], {
        cwd: folder,
        encoding: 'utf8',
        env: { PATH: folder },
      });
    expect(install()).toMatchObject({
      status: 0,
      stdout: expect.stringContaining('Installing npm packages'),
    });
    expect(install()).toMatchObject({ status: 0, stdout: '' });
    rmSync(join(folder, 'node_modules', 'esbuild'), { recursive: true });
    expect(install().status).toBe(0);
    expect(existsSync(join(folder, 'node_modules', 'esbuild'))).toBe(true);
  });
});

describe('npm start that is killed', () => {
  test('ends what it started', async () => {
    const folder = temporaryFolder();
    const { start } = JSON.parse(readFileSync('package.json', 'utf8')).scripts;
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ scripts: { start } }));
    mkdirSync(join(folder, 'scripts'));
    const server = "console.log('pid ' + process.pid); setInterval(() => {}, 1_000);";
    writeFileSync(join(folder, 'scripts', 'start.mjs'), server);
    const npm = spawn('npm', ['start'], { cwd: folder, stdio: ['ignore', 'pipe', 'ignore'] });
    let printed = '';
    npm.stdout.on('data', (chunk) => (printed += chunk));
    await expect.poll(() => printed, { timeout: 10_000 }).toMatch(/pid \d+/);
    npm.kill('SIGTERM');
    const pid = Number(/pid (\d+)/.exec(printed)?.[1]);
    onTestFailed(() => void process.kill(pid));
    await expect.poll(() => commandLine(pid), { timeout: 10_000 }).toBe('');
  });
});

describe('npm test', () => {
  const answer = [
    '0 upgraded, 12 newly installed, 0 to remove and 3 not upgraded.',
    'Need to get 34.5 MB of archives.',
    'After this operation, 120 MB of additional disk space will be used.',
  ];

  /** Runs `installTestPrograms` with a PATH that has `apt-get`, which only notes its arguments, and no other program. */
  function install(uid: number | undefined) {
    const folder = temporaryFolder();
    const calls = join(folder, 'calls');
    writeFileSync(calls, '');
    for (const [path, mode] of [
      [folder, 0o755],
      [calls, 0o666],
    ] as const)
      chmodSync(path, mode);
    const lines = answer.map((line) => `echo "${line}"`).join('; ');
    const stub = `#!/bin/sh\necho "$*" >> ${calls}\ncase "$*" in *--assume-no*) ${lines}; exit 1;; esac\n`;
    writeFileSync(join(folder, 'apt-get'), stub, { mode: 0o755 });
    symlinkSync(process.execPath, join(folder, 'node'));
    cpSync('scripts', join(folder, 'scripts'), { recursive: true });
    const script =
      "import { installTestPrograms } from './scripts/test-programs.mjs'; await installTestPrograms();";
    const { stdout, status } = spawnSync('node', ['--input-type=module', '-e', script], {
      cwd: folder,
      encoding: 'utf8',
      env: { PATH: folder },
      ...(uid !== undefined && { uid, gid: uid }),
    });
    return { stdout, status, calls: readFileSync(calls, 'utf8').trim().split('\n') };
  }

  test('as root says what it will install, and how much that is, before it does', (context) => {
    needRoot(context);
    const { stdout, status, calls } = install(undefined);
    expect(status).toBe(0);
    const size = 'apt-get installs 12 packages for them: 34.5 MB to download, 120 MB on disk.';
    expect(stdout).toMatch(/The tests need bwrap, chromium, .*zsh\./);
    expect(stdout.indexOf(size)).toBeGreaterThan(0);
    expect(stdout.indexOf('> Installing them')).toBeGreaterThan(stdout.indexOf(size));
    expect(calls.at(-1)).toMatch(/^install -y -qq --no-install-recommends bubblewrap chromium /);
  });

  test('as an ordinary user installs nothing, and names what it leaves out', () => {
    const { stdout, status, calls } = install(process.getuid?.() === 0 ? ordinaryUid : undefined);
    expect({ status, calls }).toEqual({ status: 0, calls: [''] });
    expect(stdout).toMatch(
      /^Tests that need bwrap, chromium, .* are skipped\. To run them: sudo apt-get install /,
    );
  });
});
