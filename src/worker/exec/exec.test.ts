import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { builtGuard } from '../../../tests/support/build.ts';
import { execAllowOf } from '../../../tests/support/exec-list.ts';
import { guards, nodeGuard } from '../../../tests/support/guards.ts';
import { needLandlock, needLevel, needPrograms } from '../../../tests/support/needs.ts';
import { temporaryFolder } from '../../../tests/support/temporary-folder.ts';
import { createTestWorker, type TestWorker } from '../../../tests/support/worker.ts';
import type { JobSpec } from '../../contract/job.ts';
import { toExecList } from '../../policy/to-exec-list.ts';
import type { WorkerOptions } from '../worker-options.ts';

const python = '/usr/bin/python3';
const loader = process.arch === 'x64' ? '/lib64/ld-linux-x86-64.so.2' : '/lib/ld-linux-aarch64.so.1';

let here: TestWorker;
beforeEach(async (context) => {
  here = createTestWorker();
  await needLandlock(context);
  await needLevel(context, 'namespace');
});
const createExecWorker = (execAllow: readonly string[] | undefined, options: Partial<WorkerOptions> = {}) =>
  createTestWorker({
    highestLevel: 'namespace',
    exec: 'enforce',
    execAllow: execAllowOf(execAllow),
    ...options,
  });
const make = (execAllow: readonly string[] | undefined, options: Partial<WorkerOptions> = {}) => {
  here = createExecWorker(execAllow, options);
};
afterEach(() => here.close());

/** Everything that was printed, and the exit code. */
const transcript = async (script: string, spec: Partial<JobSpec> = {}, worker = here) => {
  const { state, stdout, stderr } = await worker.run(script, spec);
  return `${stdout}${stderr}exit ${state.end?.exitCode}`;
};

describe.each(guards)(
  'behind the guard in $guard, a program that is not listed is not executed',
  ({ path }) => {
    // One worker for all cases; the main `here` is closed after each test.
    let shared: TestWorker;
    beforeAll(() => {
      shared = createExecWorker(['ls', 'cp', 'ln', 'env', 'find', 'chmod', 'cat', python, 'node'], {
        execGuard: path(),
      });
    });
    beforeEach((context) => needPrograms(context, python));
    afterAll(() => shared.close());

    test.each([
      ['by its name', 'id'],
      ['by its path', '/usr/bin/id'],
      ['in quotes', `'i'"d"`],
      ['from a variable', 'x=id; $x'],
      ['from a substitution', '$(printf i; printf d)'],
      ['through eval', 'eval "i""d"'],
      ['through env', 'env id'],
      ['through exec', 'exec id'],
      ['through a shell', 'bash -c "exec id"; sh -c id'],
      ['through find', 'find . -maxdepth 0 -exec id \\;; false'],
      ['as a copy', 'cp /usr/bin/id ./ls && ./ls'],
      ['as a symbolic link', 'ln -s /usr/bin/id ls && ./ls'],
      ['as a hard link', 'cp /usr/bin/id kept && ln kept ls && ./ls'],
      ['through a listed interpreter', `${python} -c "import os; os.execv('/usr/bin/id', ['id'])"`],
      [
        'through node',
        `node -e "console.error(require('child_process').spawnSync('id').error.code); process.exit(1)"`,
      ],
      ['as a script', 'printf "#!/bin/sh\\necho uid=\\n" > s && chmod +x s && ./s'],
      ['in the background', 'id & wait $!'],
      [
        'as a file in memory',
        `${python} -c "import os; f = os.memfd_create('x', 0); os.write(f, open('/usr/bin/id', 'rb').read()); os.execv(f'/proc/self/fd/{f}', ['id'])"`,
      ],
      [
        'as memory that /proc shows',
        `${python} - <<'end'
import mmap, os
bytes = open('/usr/bin/id', 'rb').read()
memory = mmap.mmap(-1, len(bytes))
memory.write(bytes)
for name in os.listdir('/proc/self/map_files'):
    path = '/proc/self/map_files/' + name
    if 'zero' in os.readlink(path):
        os.execv(path, ['id'])
raise SystemExit('none found')
end`,
      ],
    ])('%s', async (_way, script) => {
      const output = await transcript(script, { cwd: mkdtempSync(join(shared.folder, 'cwd-')) }, shared);
      expect(output).not.toContain('uid=');
      expect(output).toMatch(
        /Permission denied|PermissionError|EACCES|not implemented|Operation not permitted/i,
      );
      expect(output).not.toMatch(/exit 0$/);
    });

    test('although it was just written to the workspace', async () => {
      const { folder } = shared;
      copyFileSync('/usr/bin/true', join(folder, 'fresh'));
      expect(await transcript('chmod +x fresh; ./fresh', {}, shared)).toMatch(/Permission denied\nexit 126$/);
    });

    test('in place of a listed program', async () => {
      const script = 'cat /usr/bin/id > /usr/bin/cp; ln -sf /usr/bin/id /usr/bin/cp; env cp --version';
      const output = await transcript(script, {}, shared);
      expect(output).toMatch(/Read-only file system|Permission denied/);
      expect(output).toMatch(/Device or resource busy|Permission denied|Read-only/);
      expect(output).toContain('cp (GNU coreutils)');
    });
  },
);

describe('a listed program works as without the list', () => {
  test.each(guards)(
    'with its exit code, pipes, signals, descriptors and variables, behind $guard',
    async ({ path }) => {
      const own = {
        NODE_OPTIONS: '--no-warnings',
        PERL5OPT: '-Mnone',
        PERL5DB: 'exit',
        PERL_BADLANG: '1',
        PERLIO: 'a=b\n',
      };
      const environment = { PATH: '/usr/bin:/bin', HOME: '/', LC_ALL: 'xx_XX.none', ...own };
      const script =
        'yes | head -n 1; echo "$(yes 2>&1 | head -n 1)"; trap; ulimit -a; umask; echo /proc/self/fd/*; while read -r a b; do case $a in Sig[BI]*) echo $a $b;; esac; done < /proc/self/status; env -0 -u _ -u NACRE_COMMAND_ID -u NACRE_INSTANCE -u PWD; exit 7';
      make(undefined, { environment, exec: 'off' });
      const before = await here.run(script, { cwd: '/' });
      await here.close();
      make(['yes', 'head', 'env'], { environment, execGuard: path() });
      const { stdout, stderr, state } = await here.run(script, { cwd: '/' });
      const sorted = (text: string) => text.split('\0').sort();
      expect([sorted(stdout), stderr]).toEqual([sorted(before.stdout), before.stderr]);
      expect(stdout).toContain('NODE_OPTIONS=--no-warnings');
      expect(stdout).toContain('PERLIO=a=b\n');
      expect(state).toMatchObject({
        end: { exitCode: 7 },
        enforcement: { exec: 'enforced', setuid: false, level: 'namespace' },
      });
    },
  );

  test('git with its helpers, also over a local transport', async (context) => {
    needPrograms(context, 'git');
    make(['git', 'ls']);
    const output = await transcript(
      'git init -q a && cd a && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m first && cd .. && git clone -q "file://$PWD/a" b && cd b && git log --format=%s && git gc -q && git fetch -q && git stash list',
    );
    expect(output).toMatch(/^first\nexit 0$/);
  });

  test('git’s own scripts, with only git listed, and nothing that is not git', async (context) => {
    needPrograms(context, 'git');
    make(['git']);
    const { stdout, state } = await here.run(`
      git init -q . && git config user.name a && git config user.email a@b && git commit -q --allow-empty -m first &&
      git submodule status && git checkout -q -b x && git commit -q --allow-empty -m x && git checkout -q - &&
      git merge -q -s octopus x && git stash list && git bisect start && git bisect reset &&
      git rebase -q --exec 'touch ran' HEAD~1; git -c alias.t='!touch ran' t; git submodule foreach 'touch ran'; touch ran
      [ -e ran ] || echo none`);
    expect(stdout).toMatch(/none\n$/);
    expect(state.end?.deniedPrograms).toEqual(expect.arrayContaining([expect.stringMatching(/touch$/)]));
  });

  test('node, npm and its scripts, python, make and gcc', async (context) => {
    needPrograms(context, 'npm', python, 'make', 'gcc');
    make(['node', 'npm', python, 'make', 'gcc', '/usr/bin/env', 'mv', 'mkdir']);
    writeFileSync(join(here.folder, 'package.json'), '{"scripts":{"hello":"node -p 6*7"}}');
    writeFileSync(
      join(here.folder, 'Makefile'),
      'all:\n\t@gcc -o out main.c && mkdir -p d && mv out d/out && echo made\n',
    );
    writeFileSync(join(here.folder, 'main.c'), 'int main(void) { return 0; }\n');
    const output = await transcript(`npm run -s hello && ${python} -c "print(43)" && make && ./d/out`);
    expect(output).toMatch(/^42\n43\nmade\n.*Permission denied\nexit 126$/);
  });

  test('a script that is listed by its path, with its interpreter', async () => {
    const folder = temporaryFolder();
    const listed = join(folder, 'script');
    writeFileSync(listed, '#!/usr/bin/env -S sed -f\ns/a/b/\n', { mode: 0o755 });
    make([listed]);
    expect(await transcript(`echo a > f; ${listed} f`)).toBe('b\nexit 0');
  });

  test('with a long script and open stdin', async () => {
    make(['cat']);
    const long = `${': '.padEnd(9_000, 'x')}\ncat`;
    const id = await here.start(long, { stdin: 'open' });
    await here.worker.write(id, Buffer.from('said'), { eof: true });
    await here.worker.wait(id, 10_000);
    expect((await here.output(id)).stdout).toBe('said');
  });

  test.each(['workspace', 'strict'] as const)(
    'in the sandbox %s, wherever nacre itself is installed',
    async (sandbox) => {
      process.env.TMPDIR = '/var/tmp';
      make(['ls', 'cat'], { sandbox });
      process.env.TMPDIR = '/tmp';
      const project = join(here.folder, 'project');
      mkdirSync(project);
      const { stdout, stderr, state } = await here.run('ls -d .; id', { cwd: project });
      expect(stdout).toBe('.\n');
      expect(stderr).toContain('Permission denied');
      expect(state.enforcement).toMatchObject({ exec: 'enforced', sandbox });
    },
  );

  test.each(['unshare', 'group'] as const)('without bubblewrap, at level %s', async (highestLevel) => {
    make(['ls'], { highestLevel });
    const { stderr, state } = await here.run('ls; id');
    expect(stderr).toContain('Permission denied');
    expect(state.enforcement).toMatchObject({ exec: 'enforced', level: highestLevel, setuid: false });
  });
});

describe('exec: auto', () => {
  test('enforces a closed list, and names what the kernel stopped', async () => {
    make(['ls'], { exec: 'auto' });
    const { state } = await here.run('touch ran; ls');
    expect(state).toMatchObject({
      end: { exitCode: 0, deniedPrograms: ['/usr/bin/touch'] },
      enforcement: { exec: 'enforced' },
    });
    const inSession = await here.run('touch ran', { session: 'one' });
    expect(inSession.state.end?.deniedPrograms).toEqual(['/usr/bin/touch']);
  });

  test('enforces nothing under an open list, or without one', async () => {
    for (const names of [['ls', 'make'], undefined]) {
      make(names, { exec: 'auto' });
      const { state } = await here.run('id -u');
      expect(state).toMatchObject({ end: { exitCode: 0 }, enforcement: { exec: 'off' } });
      await here.close();
    }
  });

  test.each(['namespace', 'group'] as const)(
    'follows a change of the list at level %s',
    async (highestLevel) => {
      let list = toExecList(['ls']);
      const environment = { PATH: '/usr/bin:/bin', PERL5OPT: '-Mnone' };
      make([], { exec: 'auto', highestLevel, environment, execAllow: () => list });
      const run = async () => (await here.run('id -u; echo $PERL5OPT $PERL_BADLANG')).stdout;
      expect(await run()).toBe('-Mnone\n');
      list = toExecList(['ls', 'id']);
      expect(await run()).toMatch(/^\d+\n-Mnone\n$/);
      list = toExecList(['ls', 'make']);
      expect(await run()).toMatch(/^\d+\n-Mnone\n$/);
      list = toExecList(['ls']);
      expect(await run()).toBe('-Mnone\n');
    },
  );
});

describe('the list of the caller', () => {
  const closed = toExecList(['ls']);
  const isRun = async (spec: Partial<JobSpec>) => (await here.run('id -u', spec)).state.end?.exitCode === 0;

  test.each(['namespace', 'unshare', 'group'] as const)(
    'is enforced at level %s, although shells for other lists wait',
    async (highestLevel) => {
      make(['ls', 'make'], { exec: 'auto', highestLevel, warmShells: 2 });
      for (let round = 0; round < 3; round += 1) {
        expect(await isRun({ exec: closed })).toBe(false);
        expect(await isRun({})).toBe(true);
        expect(await isRun({ exec: 'any' })).toBe(true);
        expect(await isRun({ exec: toExecList(['ls', 'id']) })).toBe(true);
      }
      const { state } = await here.run('id', { exec: closed });
      expect(state).toMatchObject({
        enforcement: { exec: 'enforced' },
        end: { deniedPrograms: ['/usr/bin/id'] },
      });
    },
  );

  test('starts a persistent shell again if that may execute more, and keeps its state', async () => {
    make(undefined, { exec: 'auto' });
    const inSession = (script: string, exec: JobSpec['exec']) => here.run(script, { session: 'one', exec });
    const { state: first } = await inSession('x=kept; id', 'any');
    expect(first).toMatchObject({ end: { exitCode: 0 }, enforcement: { exec: 'off' } });
    const { state, stdout } = await inSession('echo $x; id', closed);
    expect(stdout).toBe('kept\n');
    expect(state).toMatchObject({ end: { exitCode: 126 }, enforcement: { exec: 'enforced' } });
    // A wider list applies to new shells only: background processes of this one keep running.
    expect((await inSession('echo $x; id', 'any')).state).toMatchObject({
      end: { exitCode: 126, session: { restored: null } },
    });
  });

  test('that the kernel cannot enforce is an error of its own commands only', async () => {
    make(undefined, { exec: 'enforce', execGuard: '/no/such/guard.js' });
    expect(await isRun({})).toBe(true);
    await expect(here.run('ls', { exec: closed })).rejects.toMatchObject({ code: 'isolation_unavailable' });
    expect(await isRun({})).toBe(true);
  });
});

describe('gaps that are reported', () => {
  test('the dynamic loader runs a program that is not listed', async () => {
    make(['cp']);
    const { stdout, state } = await here.run(`cp /usr/bin/id ./elf; ${loader} ./elf`);
    expect(stdout).toContain('uid=');
    expect(state.enforcement?.gaps.join()).toContain('dynamic loader');
  });

  test('a listed interpreter runs the code that it reads', async () => {
    make([python]);
    writeFileSync(join(here.folder, 'code'), 'print("read")');
    const { stdout, state } = await here.run(`${python} code`);
    expect(stdout).toBe('read\n');
    expect(state.enforcement?.gaps.join()).toContain('interpreter');
  });

  test('another process starts a program for a command', async () => {
    const server = createServer((socket) => socket.end(execFileSync('/usr/bin/id')));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    make(['cat']);
    const { stdout, state } = await here.run(`exec 3<> /dev/tcp/127.0.0.1/${port} && cat <&3`);
    expect(stdout).toContain('uid=');
    expect(state.enforcement?.gaps.join()).toContain('starts for a command');
    await new Promise((resolve) => server.close(resolve));
  });

  test('one name of a multi-call program allows all of its names', async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'busybox'), '#!/bin/bash\necho "$0"\n', { mode: 0o755 });
    for (const name of ['one', 'other']) symlinkSync('busybox', join(folder, name));
    make([join(folder, 'one')]);
    const { stdout, state } = await here.run(`${folder}/other`);
    expect(stdout).toBe(`${folder}/other\n`);
    expect(state.enforcement?.gaps.join()).toContain(`${folder}/busybox is a multi-call program`);
  });

  test('without bubblewrap a listed program can be changed by a user who may write to it', async () => {
    const folder = temporaryFolder();
    copyFileSync('/usr/bin/true', join(folder, 'mine'));
    make([join(folder, 'mine'), 'cat'], { highestLevel: 'unshare' });
    const { stdout, state } = await here.run(`cat /usr/bin/id > ${folder}/mine; ${folder}/mine`);
    expect(stdout).toContain('uid=');
    expect(state.enforcement?.gaps.join()).toContain('can change a listed program');
  });

  test('an interpreter that a listed program needs can be run by itself', async () => {
    make(['npm']);
    const { stdout, state } = await here.run('node -p 1');
    expect(stdout).toBe('1\n');
    expect(state.enforcement?.gaps.join()).toMatch(/executes what they need: .*node/);
  });

  test('without a list there is nothing to enforce', async () => {
    make(undefined);
    const { stdout, state } = await here.run('id -u');
    expect(stdout).toMatch(/^\d+\n$/);
    expect(state.enforcement).toMatchObject({ exec: 'off' });
    expect(state.enforcement?.gaps.join()).toContain('nothing to enforce');
  });
});

describe('without', () => {
  /** A guard whose Landlock system calls fail with ENOSYS, as on old kernels and in some containers. */
  const withoutLandlock = (folder: string) => {
    const path = join(folder, 'denied.mjs');
    const filter = new URL('../../../tests/children/deny-landlock.mjs', import.meta.url);
    copyFileSync(filter, path);
    symlinkSync(join(process.cwd(), 'node_modules'), join(folder, 'node_modules'));
    symlinkSync(builtGuard, join(folder, 'exec-guard.js'));
    return path;
  };
  const withoutPerlAndKoffi = (folder: string) => {
    const path = join(folder, 'exec-guard.mjs');
    copyFileSync(builtGuard, path);
    return path;
  };
  const cases = [
    ['Landlock', withoutLandlock, /does not offer Landlock \(landlock_create_ruleset: ENOSYS\)/],
    ['perl and koffi', withoutPerlAndKoffi, /package koffi could not be loaded/],
    ['the guard', (folder: string) => join(folder, 'none.js'), /none\.js is missing/],
  ] as const;

  test('perl, Node is used', async () => {
    make(['ls'], { execGuard: nodeGuard() });
    expect(await transcript('ls -d .; id')).toMatch(/^\.\n.*Permission denied\nexit 126$/);
  });

  test('koffi, perl is used', async () => {
    make(['ls']);
    copyFileSync(builtGuard, join(here.folder, 'exec-guard.js'));
    copyFileSync(builtGuard.replace(/js$/, 'pl'), join(here.folder, 'exec-guard.pl'));
    const other = createExecWorker(['ls'], { execGuard: join(here.folder, 'exec-guard.js') });
    expect(await transcript('ls -d .; id', {}, other)).toMatch(/^\.\n.*Permission denied\nexit 126$/);
    await other.close();
  });

  test.each(cases)('%s, `enforce` fails and names what is missing', async (_what, prepare, reason) => {
    make(['ls']);
    const execGuard = prepare(here.folder);
    const other = createTestWorker({
      highestLevel: 'namespace',
      exec: 'enforce',
      execAllow: execAllowOf(['ls']),
      execGuard,
    });
    await expect(other.run('touch ran')).rejects.toMatchObject({
      code: 'isolation_unavailable',
      message: expect.stringMatching(reason),
    });
    await other.close();
  });

  test.each(cases)('%s, `auto` runs the command and names the gap', async (_what, prepare, reason) => {
    make(['ls']);
    const execGuard = prepare(here.folder);
    const other = createTestWorker({
      highestLevel: 'namespace',
      exec: 'auto',
      execAllow: execAllowOf(['ls']),
      execGuard,
    });
    const { stdout, state } = await other.run('id -u');
    expect(stdout).toMatch(/^\d+\n$/);
    expect(state.enforcement).toMatchObject({ exec: 'off', level: 'namespace' });
    expect(state.enforcement?.gaps.join()).toMatch(reason);
    const { landlock, execNote } = await other.worker.report();
    expect(landlock).toMatch(reason);
    expect(execNote).toMatch(reason);
    await other.close();
  });
});
