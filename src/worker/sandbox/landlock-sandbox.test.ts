import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { execAllowOf } from '../../../tests/support/exec-list.ts';
import { guards } from '../../../tests/support/guards.ts';
import { needLandlock, needLevel, needPrograms, needPty } from '../../../tests/support/needs.ts';
import { processesWith } from '../../../tests/support/processes.ts';
import { createTestWorker, type TestWorker } from '../../../tests/support/worker.ts';
import { NacreError } from '../../contract/failure.ts';
import type { JobSpec } from '../../contract/job.ts';
import type { WorkerOptions } from '../worker-options.ts';

const python = '/usr/bin/python3';

/** A home directory with keys, a project and a neighbour of it, and a worker whose sandbox is Landlock. */
interface Place {
  readonly home: string;
  readonly project: string;
  readonly worker: TestWorker;
  readonly run: (script: string, spec?: Partial<JobSpec>) => ReturnType<TestWorker['run']>;
  close(): Promise<void>;
}

// Below /var/tmp, so that /tmp contains nothing that is hidden and stays writable.
function createPlace(options: Partial<WorkerOptions>): Place {
  const home = mkdtempSync('/var/tmp/nacre-landlock-');
  const project = join(home, 'project');
  for (const name of ['.ssh', 'project', 'neighbour', 'temporary', '.local/bin', '.cargo'])
    mkdirSync(join(home, name), { recursive: true });
  writeFileSync(join(home, '.ssh', 'id'), 'the key');
  writeFileSync(join(home, '.bashrc'), 'export THE_KEY=x');
  writeFileSync(join(home, '.local', 'bin', 'tool'), 'a tool\n');
  writeFileSync(join(home, '.cargo', 'env'), 'an environment\n');
  writeFileSync(join(home, '.cargo', 'credentials.toml'), 'the key');
  writeFileSync(join(home, 'shown'), 'named in the settings');
  writeFileSync(join(home, 'neighbour', 'file'), 'untouched');
  const worker = createTestWorker({
    ...{ home, cwd: project, stateDir: join(home, 'state'), sandbox: 'workspace', homeShow: ['shown'] },
    environment: {
      PATH: '/usr/local/bin:/usr/bin:/bin',
      HOME: home,
      LANG: 'C.UTF-8',
      TMPDIR: join(home, 'temporary'),
    },
    ...options,
  });
  return {
    home,
    project,
    worker,
    run: (script, spec) => worker.run(script, { cwd: project, ...spec }),
    async close() {
      await worker.close();
      rmSync(home, { recursive: true, force: true });
    },
  };
}

beforeEach((context) => needLandlock(context));

const combinations = [
  { highestLevel: 'group', ...guards[0] },
  { highestLevel: 'unshare', ...guards[1] },
] as const;

describe.each(combinations)(
  'a sandbox by Landlock at level $highestLevel, behind the guard in $guard',
  ({ highestLevel, path }) => {
    let here: Place;
    let outsider: ChildProcess;
    let server: Server;
    beforeAll(async () => {
      here = createPlace({ highestLevel, execGuard: path() });
      outsider = spawn('sleep', ['1000'], { env: { SECRET: 'outside' } });
      server = createServer((socket) => socket.end('reached')).listen(join(here.home, 'socket'));
      await once(server, 'listening');
    });
    beforeEach(async (context) => {
      await needLevel(context, highestLevel);
      needPrograms(context, python);
    });
    afterAll(async () => {
      outsider.kill('SIGKILL');
      server.close();
      await here.close();
      // Not the path alone: sandboxes of other tests mask the socket of `server` and name it in their arguments.
      expect(processesWith(`HOME=${here.home}`)).toEqual([]);
    });

    test('is reported as such, with its gaps', async () => {
      const { state } = await here.run('true');
      expect(state.enforcement).toMatchObject({
        level: highestLevel,
        sandbox: 'workspace',
        files: 'landlock',
        network: 'off',
        setuid: false,
      });
      const gaps = state.enforcement?.gaps.join('\n');
      expect(gaps).toContain('Landlock does not restrict chmod');
      expect(gaps).toContain('/tmp is shared with other programs');
      expect(await here.worker.worker.report()).toMatchObject({ files: 'landlock', hidesOwnFiles: true });
    });

    test.each([
      ['the workspace', 'echo a > file && mkdir -p a/b && mv file a/b/ && ln -s b a/link && rm -r a'],
      ['TMPDIR and mktemp', 'f=$(mktemp) && echo a > "$f" && rm "$f"'],
      ['/tmp', 'f=$(mktemp -p /tmp) && echo a > "$f" && rm "$f"'],
      ['the folder for caches', 'mkdir -p "$XDG_CACHE_HOME/x" && echo a > "$XDG_CACHE_HOME/x/y"'],
      [
        'devices and outputs',
        'echo a > /dev/null; echo b > /dev/stdout; echo c > /dev/stderr; : < /dev/zero',
      ],
      ['the end of a file', 'echo abc > t && truncate -s 1 t && [ "$(cat t)" = a ]'],
    ])('a command can write to %s', async (_what, script) => {
      const { state, stderr } = await here.run(script);
      expect([state.end?.exitCode, stderr.replace('c\n', '')]).toEqual([0, '']);
    });

    test.each([
      ['by its path', 'echo a > ../neighbour/file'],
      ['by a new file', 'echo a > ../neighbour/new'],
      ['by a new folder', 'mkdir ../neighbour/new'],
      ['through a symbolic link', 'ln -s ../neighbour/file link && echo a > link'],
      ['through a linked folder', 'ln -s ../neighbour folder && echo a > folder/file'],
      ['through a hard link', 'ln ../neighbour/file hard && echo a > hard'],
      ['by a rename into the workspace', 'mv ../neighbour/file moved'],
      ['by a rename out of it', 'echo a > mine && mv -f mine ../neighbour/file'],
      ['by removing', 'rm -f ../neighbour/file'],
      ['by truncating', `${python} -c 'import os; os.truncate("../neighbour/file", 0)'`],
      [
        'by opening it for reading and truncating',
        `${python} -c 'import os; os.open("../neighbour/file", os.O_RDONLY | os.O_TRUNC)'`,
      ],
      ['through /proc/self/root', 'echo a > "/proc/self/root$PWD/../neighbour/file"'],
      ['through /proc/self/cwd', 'echo a > /proc/self/cwd/../neighbour/file'],
      ['through the root of another process', 'echo a > "/proc/$OUTSIDER/root$PWD/../neighbour/file"'],
      ['in a namespace of its own', 'unshare --user --mount sh -c "echo a > ../neighbour/file"'],
      ['by mounting', 'mkdir -p m && mount --bind ../neighbour m && echo a > m/file'],
    ])('a command cannot write outside %s', async (_way, script) => {
      const { state, stderr } = await here.run(script, { env: { OUTSIDER: String(outsider.pid) } });
      expect(state.end?.exitCode).not.toBe(0);
      expect(stderr).toMatch(/denied|not permitted|cross-device|PermissionError|No such file/i);
      expect(readFileSync(join(here.home, 'neighbour', 'file'), 'utf8')).toBe('untouched');
      expect(existsSync(join(here.home, 'neighbour', 'new'))).toBe(false);
    });

    test.each([
      ['by its path', 'cat ../.ssh/id'],
      ['through a symbolic link', 'ln -sf ../.ssh keys && cat keys/id'],
      ['through a hard link', 'ln ../.ssh/id key && cat key'],
      ['as a copy', 'cp -r ../.ssh copy; cat copy/id'],
      ['through /proc/self/root', 'cat "/proc/self/root$HOME/.ssh/id"'],
      ['through the root of another process', 'cat "/proc/$OUTSIDER/root$HOME/.ssh/id"'],
      ['after a rename', 'mv ../.ssh taken; cat taken/id'],
    ])('a command cannot read keys %s', async (_way, script) => {
      const { stdout, stderr } = await here.run(script, { env: { OUTSIDER: String(outsider.pid) } });
      expect(stdout).not.toContain('the key');
      expect(stderr).toMatch(/denied|cross-device|not permitted|No such file/i);
    });

    test('a key store that is created later cannot be read', async () => {
      await here.run('true');
      mkdirSync(join(here.home, '.aws'));
      writeFileSync(join(here.home, '.aws', 'credentials'), 'the key');
      expect((await here.run('cat ../.aws/credentials')).stdout).toBe('');
    });

    test('of the home directory, only known tools and caches and what the settings name can be read', async () => {
      const { stdout } = await here.run(
        'cat ../neighbour/file ../.bashrc 2>&1; cat ../.local/bin/tool ../.cargo/env; cat ../.cargo/credentials.toml; cat ../shown',
      );
      expect(stdout.split('\n')).toEqual([
        'cat: ../neighbour/file: Permission denied',
        'cat: ../.bashrc: Permission denied',
        'a tool',
        'an environment',
        'named in the settings',
      ]);
    });

    test('files elsewhere can be read, even if they were created after the shell was started', async () => {
      const file = `${here.home}-late`;
      writeFileSync(file, 'created later');
      expect((await here.run(`cat ${file}`)).stdout).toBe('created later');
      rmSync(file);
    });

    test('the files of nacre cannot be read', async () => {
      const { stdout } = await here.run(
        'find ../state -name cache -prune -o -type f -exec cat {} +; echo end',
      );
      expect(stdout).toBe('end\n');
    });

    test.each([
      [
        'ptrace',
        `${python} - <<'end'
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
assert libc.ptrace(16, int(os.environ['OUTSIDER']), 0, 0) == 0, os.strerror(ctypes.get_errno())
end`,
      ],
      ['its memory', 'cat "/proc/$OUTSIDER/mem"'],
      ['its environment', 'cat "/proc/$OUTSIDER/environ"'],
    ])('a command cannot inspect another process by %s', async (_way, script) => {
      const { state, stdout } = await here.run(script, { env: { OUTSIDER: String(outsider.pid) } });
      expect(stdout).not.toContain('SECRET');
      expect(state.end?.exitCode).not.toBe(0);
    });

    test('a command cannot signal another process, or that is a gap', async () => {
      const { state } = await here.run('kill "$OUTSIDER"', { env: { OUTSIDER: String(outsider.pid) } });
      const isGap = state.enforcement?.gaps.some((gap) => gap.includes('can signal them'));
      expect(state.end?.exitCode !== 0 || isGap).toBe(true);
      if (!isGap) expect(outsider.signalCode).toBeNull();
    });

    test.each([
      ['a Unix socket', 's = socket.socket(socket.AF_UNIX); s.connect("../socket")'],
      ['TCP', 'socket.socket(socket.AF_INET)'],
      ['UDP over IPv6', 'socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)'],
      ['a pair that can send to any path', 'socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)'],
      ['a raw pair', 'socket.socketpair(socket.AF_UNIX, socket.SOCK_RAW)'],
    ])('a command without network cannot use %s', async (_what, code) => {
      const { stderr } = await here.run(`${python} -c 'import socket; ${code}'`);
      expect(stderr).toMatch(/PermissionError: \[Errno 13\]/);
    });

    test('a command without network cannot use io_uring, which creates sockets unseen', async () => {
      const code = 'import ctypes; l = ctypes.CDLL(None, use_errno=True); l.syscall(425, 8, b"0" * 120)';
      const { stdout } = await here.run(`${python} -c '${code}; print(ctypes.get_errno())'`);
      expect(stdout).toBe('38\n');
    });

    test('connected pairs and the list of network interfaces still work', async () => {
      const { stdout, stderr } = await here.run(
        `${python} -c 'import socket; a, b = socket.socketpair(); a.send(b"x"); print(b.recv(1))' && node -e 'console.log(Object.keys(require("os").networkInterfaces()).includes("lo")); require("child_process").spawn(process.execPath, ["-e", "process.send(1)"], { stdio: ["ignore", "inherit", "inherit", "ipc"] }).on("message", (text) => console.log(text))'`,
      );
      expect([stdout, stderr]).toEqual(["b'x'\ntrue\n1\n", '']);
    });

    test('keys of the user in the kernel cannot be read', async () => {
      const keyctl = process.arch === 'x64' ? 250 : 219;
      const list = `import ctypes; print(ctypes.CDLL(None).syscall(${keyctl}, 0, -3, 0))`;
      expect((await here.run(`${python} -c '${list}'`)).stdout).toBe('-1\n');
    });

    test('root has no capabilities, and setuid programs gain none', async () => {
      const { stdout } = await here.run('grep -E "Cap(Prm|Eff|Bnd|Amb)|NoNewPrivs" /proc/self/status');
      if (process.getuid?.() === 0) expect(stdout).toMatch(/CapPrm:\t0+\nCapEff:\t0+\nCapBnd:\t0+\n/);
      expect(stdout).toMatch(/CapAmb:\t0+\nNoNewPrivs:\t1/);
    });

    test('git, a compiler and node work', async (context) => {
      needPrograms(context, 'git', 'gcc');
      const { stdout, stderr } = await here.run(`
      git init -q repo && cd repo && git config user.name a && git config user.email a@b &&
      echo 'int main(void) { return 42; }' > main.c && gcc -o main main.c && git add . && git commit -qm first &&
      git clone -q "file://$PWD" ../clone && git -C ../clone log --format=%s; ./main; echo $?
      node -e 'require("fs").mkdirSync("node_modules/a", { recursive: true }); console.log("written")'`);
      expect([stdout, stderr]).toEqual(['first\n42\nwritten\n', '']);
    });

    test('long scripts, open stdin, exit codes and signals arrive', async () => {
      const long = `${': '.padEnd(9_000, 'x')}\ncat; exit 3`;
      const id = await here.worker.start(long, { cwd: here.project, stdin: 'open' });
      await here.worker.worker.write(id, Buffer.from('said'), { eof: true });
      expect((await here.worker.worker.wait(id, 20_000)).end?.exitCode).toBe(3);
      expect((await here.worker.output(id)).stdout).toBe('said');
      expect((await here.run('kill -KILL $$')).state.end).toMatchObject({ exitCode: 137, signal: 'SIGKILL' });
    });

    test('a program runs directly', async () => {
      const id = await here.worker.start('', {
        cwd: here.project,
        command: { kind: 'argv', argv: ['printf', '%s', 'a b'] },
      });
      await here.worker.worker.wait(id, 20_000);
      expect((await here.worker.output(id)).stdout).toBe('a b');
    });

    test('a process left running is listed and killed', async () => {
      const { state } = await here.run('sleep 1001 & setsid sleep 1002 &');
      expect(state.end?.leftRunning.map(({ command }) => command).sort()).toEqual([
        'sleep 1001',
        'sleep 1002',
      ]);
      for (const { pid } of state.end?.leftRunning ?? []) expect(existsSync(`/proc/${pid}/exe`)).toBe(false);
    });

    test('a persistent shell keeps its state and its sandbox', async () => {
      const session = { session: 'one', cwd: here.project };
      await here.run('x=5', session);
      const { stdout, stderr } = await here.run('echo $x; echo a > ~/no; cat ~/.ssh/id', session);
      expect(stdout).toBe('5\n');
      expect(stderr.match(/denied/g)).toHaveLength(2);
    });

    test('a command at a terminal is restricted, and can use that terminal', async (context) => {
      await needPty(context);
      const id = await here.worker.start('tty; echo a > /dev/tty; echo b > ~/no; cat ~/.ssh/id', {
        cwd: here.project,
        stdin: 'open',
        terminal: { cols: 80, rows: 24 },
      });
      await here.worker.worker.wait(id, 20_000);
      const { stdout } = await here.worker.output(id);
      expect(stdout).toMatch(/^\/dev\/pts\/\d+\r\na\r\n/);
      expect(stdout.match(/denied/g)).toHaveLength(2);
      expect(stdout).not.toContain('the key');
    });

    test('strict is refused, with what would make it possible', async () => {
      const refused = await here.run('true', { isolation: { sandbox: 'strict' } }).catch((error) => error);
      expect(refused).toBeInstanceOf(NacreError);
      expect(refused.message).toContain('Landlock can only enforce workspace');
      expect(refused.hint).toContain('Or set sandbox to workspace.');
    });

    test('a workspace that contains nacre’s files is refused', async () => {
      const refused = here.run('true', {
        isolation: { workspace: [join(here.home, 'state', '..', 'state')] },
      });
      await expect(refused).rejects.toMatchObject({ code: 'isolation_unavailable' });
    });
  },
);

describe('a sandbox by Landlock', () => {
  let here: Place;
  const open = (options: Partial<WorkerOptions>) => {
    here = createPlace({ highestLevel: 'group', ...options });
    return here;
  };
  test('can be asked for by one call', async () => {
    const { run, close } = open({ sandbox: 'off' });
    const free = await run('echo a > ../neighbour/file');
    expect(free.state.enforcement).toMatchObject({ sandbox: 'off', files: 'off' });
    const asked = await run('echo a > ../neighbour/other', { isolation: { sandbox: 'workspace' } });
    expect(asked.stderr).toContain('Permission denied');
    expect(asked.state.enforcement).toMatchObject({ sandbox: 'workspace', files: 'landlock' });
    await close();
  });

  test('with network: on leaves sockets open, and says so', async (context) => {
    needPrograms(context, python);
    const { run, close, worker } = open({ network: 'on' });
    const { state, stdout } = await run(
      `${python} -c 'import socket; socket.socket(socket.AF_UNIX); print(1)'`,
    );
    expect(stdout).toBe('1\n');
    expect(state.enforcement?.network).toBe('on');
    expect(state.enforcement?.gaps.join()).toContain('can reach Unix sockets of other programs');
    expect((await worker.worker.report()).hidesOwnFiles).toBe(false);
    await close();
  });

  test('reaches no host in place of those in network_allow, and says so', async () => {
    const { run, close, worker } = open({ networkAllow: ['example.com'] });
    const { state } = await run('true');
    expect(state.enforcement).toMatchObject({ network: 'off' });
    expect(state.enforcement?.gaps.join()).toContain('network_allow has no effect');
    expect(await worker.worker.report()).toMatchObject({ network: 'off' });
    await close();
  });

  test('sees and signals the processes of the machine with processes: host', async () => {
    const outsider = spawn('sleep', ['1000']);
    const ended = once(outsider, 'exit');
    const { run, close } = open({ highestLevel: 'namespace', processes: 'host' });
    const { state, stderr } = await run(`echo a > ../neighbour/file; kill ${outsider.pid}`);
    expect(stderr).toContain('denied');
    expect(state.enforcement).toMatchObject({ level: 'group', files: 'landlock' });
    expect((await ended)[1]).toBe('SIGTERM');
    await close();
  });

  test('is combined with a list of programs', async () => {
    const { run, close } = open({ exec: 'enforce', execAllow: execAllowOf(['cat']) });
    const { state, stdout, stderr } = await run('cat ../shown; id; echo a > ../neighbour/file');
    expect(stdout).toBe('named in the settings');
    expect(stderr.match(/denied/g)).toHaveLength(2);
    expect(state.enforcement).toMatchObject({ exec: 'enforced', files: 'landlock' });
    await close();
  });

  test('is limited like any other command', async () => {
    const { run, close } = open({ fileBytes: 1_024, treeMemoryBytes: 64 * 1_048_576 });
    const { state } = await run('head -c 5000 /dev/zero > big');
    expect(state.end?.cause).toBe('file_size');
    await close();
  });

  test('refuses a workspace with keys in it', async () => {
    const { home, run, close } = open({});
    mkdirSync(join(home, '.config'));
    const config = join(home, '.config');
    const named = run('true', { cwd: config, isolation: { workspace: [config] } });
    await expect(named).rejects.toMatchObject({
      code: 'isolation_unavailable',
      message: expect.stringContaining('Landlock could not hide'),
    });
    await close();
  });
});
