import { spawnSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { needLevel, needPrograms } from '../support/needs.ts';
import { pathWithout, type Without } from '../support/path-without.ts';
import { cliFor, type User, users } from '../support/users.ts';

beforeEach((context) => needLevel(context, 'namespace'));

/** A home directory for all tests of one user. Not below /tmp, because a sandbox mounts its own /tmp. */
function useUser(user: User) {
  const here = { home: '', cli: '', identity: {} as { uid?: number; gid?: number } };
  beforeAll(() => {
    here.home = mkdtempSync('/var/tmp/nacre-isolation-');
    Object.assign(here, cliFor(user, here.home));
    mkdirSync(join(here.home, 'project'));
    own(here.identity, join(here.home, 'project'));
  });
  afterAll(() => rmSync(here.home, { recursive: true, force: true }));
  return here;
}

function own({ uid }: { readonly uid?: number }, ...paths: readonly string[]): void {
  if (uid !== undefined) for (const path of paths) chownSync(path, uid, uid);
}

/** Tries to ptrace the server without stopping it, to read its memory and environment, and to signal it; prints what worked. */
const reachServer = [
  `python3 -c 'import ctypes, os; print("traced" if ctypes.CDLL(None).ptrace(0x4206, int(os.environ["SERVER"]), 0, 0) == 0 else "")' | grep .`,
  'head -c 1 /proc/$SERVER/mem > /dev/null 2>&1 && echo read',
  'grep -l server-secret /proc/$SERVER/environ 2> /dev/null',
  'kill -0 $SERVER 2> /dev/null && echo signalled',
].join('\n');

const projectFiles = {
  'hello.c': '#include <stdio.h>\nint main(void) { puts("built"); }\n',
  Makefile: 'hello: hello.c\n\tgcc -o $@ $<\n',
  'package.json': JSON.stringify({
    name: 'project',
    version: '1.0.0',
    scripts: { start: 'node -e "console.log(1 + 1)"' },
    dependencies: { dep: 'file:./dep' },
  }),
  'dep/package.json': JSON.stringify({ name: 'dep', version: '1.0.0', bin: { dep: 'dep.js' } }),
  'dep/dep.js': '#!/usr/bin/env node\nconsole.log("dependency");\n',
};
const build = [
  'make -s && ./hello',
  'npm install --offline --no-audit --no-fund --silent && npm start --silent && npx --no-install dep',
  'npm pack --silent',
  'python3 -m venv --without-pip v && v/bin/python -c "print(3)"',
  'git init -q . && git add hello.c && git -c user.name=a -c user.email=a@b commit -q -m first && git log --format=%s',
  'diff <(echo a) <(echo b) | tee >(tail -n 1 >&2) 2>&1 | head -n 1',
  'sleep 0.1 & wait $! && echo waited',
].join('\n');
const built = 'built\n2\ndependency\nproject-1.0.0.tgz\n3\nfirst\n1c1\nwaited\n';

describe.each(users)('E5: a sandboxed command of user %s', (user) => {
  const here = useUser(user);
  const nacre = (script: string, ...flags: string[]) => {
    const env = {
      PATH: process.env.PATH ?? '',
      HOME: here.home,
      NACRE_LOGIN_ENV: 'never',
      SECRET_TOKEN: 'server-secret',
    };
    // The command gets the server's pid, which is not a secret. The server inherits an extra file descriptor, 9.
    const start = 'exec 9< /etc/passwd; SERVER=$$ exec "$@"';
    const words = [process.execPath, here.cli, 'run', '--json', ...flags, script];
    const { stdout } = spawnSync('bash', ['-c', start, 'bash', ...words], {
      env,
      cwd: join(here.home, 'project'),
      encoding: 'utf8',
      timeout: 30_000,
      killSignal: 'SIGKILL',
      ...here.identity,
    });
    return JSON.parse(stdout);
  };

  test.each(['workspace', 'strict'])(
    'with sandbox %s cannot write outside, gain a capability, remount a read-only mount or reach the server',
    (sandbox) => {
      const attempts = [
        'echo x > /etc/nacre-escape',
        `echo x > ${here.home}/escape`,
        'mount -o remount,rw /',
        'unshare -Urm sh -c "mount -o remount,rw,bind / && echo x > /etc/nacre-escape"',
        'mknod sda b 8 0 && head -c 1 sda',
        `nsenter -t 1 -m sh -c "echo x > ${here.home}/escape"`,
        'chroot / true && [ "$(grep CapEff /proc/self/status | cut -f2)" != 0000000000000000 ] && echo capable',
      ];
      const script = attempts.map((attempt) => `( ${attempt} ) 2> /dev/null`).join('\n');
      const { stdout } = nacre(`${script}\n${reachServer}\necho end`, '--sandbox', sandbox);
      expect(stdout).toBe('end\n');
      expect([`${here.home}/escape`, '/etc/nacre-escape'].filter(existsSync)).toEqual([]);
    },
  );

  test("with sandbox off cannot see the server's processes, environment and files, or reach the server", () => {
    const see =
      'cat /proc/*/environ 2> /dev/null | tr "\\0" "\\n" | grep server-secret; ls -A ~/.local/state/nacre; ps -e | grep -c node';
    const { stdout, warnings } = nacre(`${see}\n${reachServer}\necho end`, '--sandbox', 'off');
    expect(stdout).toBe('0\nend\n');
    expect(warnings.join(' ')).toContain('ps saw only processes that this command started');
  });

  test('without a namespace can reach the server, but gets no file descriptor of it', () => {
    const { stdout } = nacre(`${reachServer}\ncat <&9; echo end`, '--processes', 'host');
    expect(stdout).toMatch(/signalled\nend\n$/);
    expect(report(here, { processes: 'host' }).gaps.join(' ')).toContain("nacre's server among them");
  });

  test('in a workspace builds and runs with gcc, make, npm, node, python and git', (context) => {
    needPrograms(context, 'gcc', 'make', 'npm', 'python3', 'git');
    const project = join(here.home, 'project');
    mkdirSync(join(project, 'dep'), { recursive: true });
    for (const [name, text] of Object.entries(projectFiles))
      writeFileSync(join(project, name), text, { mode: 0o755 });
    own(here.identity, ...['dep', ...Object.keys(projectFiles)].map((name) => join(project, name)));
    const { stdout, stderr } = nacre(build, '--sandbox', 'workspace');
    expect({ stdout, stderr }).toEqual({ stdout: built, stderr: '> b\n' });
  });

  test('reaches no socket of the machine', async () => {
    const path = join(here.home, 'server.sock');
    const servers = [path, '\0nacre-abstract-test'].map((address) =>
      createServer((peer) => peer.end('leak')).listen(address),
    );
    await Promise.all(servers.map((server) => new Promise((done) => server.once('listening', done))));
    chmodSync(path, 0o777);
    const connect = (address: string) =>
      `python3 -c 'import socket; s = socket.socket(socket.AF_UNIX); s.connect(${JSON.stringify(address)}); print(s.recv(9))' 2> /dev/null`;
    const received: string[] = [];
    const datagrams = createSocket('udp4', (message) => received.push(`${message}`)).bind(0, '127.0.0.1');
    await once(datagrams, 'listening');
    const attempts = [
      connect('\\0nacre-abstract-test'),
      connect(path),
      'cat < /dev/tcp/127.0.0.1/22 2> /dev/null',
      `echo leak > /dev/udp/127.0.0.1/${datagrams.address().port} 2> /dev/null`,
      'echo end',
    ];
    const { stdout } = nacre(attempts.join('; '), '--sandbox', 'strict');
    expect(stdout).toBe('end\n');
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(received).toEqual([]);
    datagrams.close();
    for (const server of servers) server.close();
  });

  test('shares no file in /tmp, variable, descriptor or process with the command before it', () => {
    const open = 'exec 7< /etc/passwd; sleep 50 &';
    nacre(`echo x > /tmp/nacre-shared; export SHARED=1; ${open}`, '--sandbox', 'workspace');
    const look = 'ls /tmp; echo "[$SHARED]"; ps -e | grep -c sleep; cat <&7; cat <&9';
    const { stdout } = nacre(look, '--sandbox', 'workspace');
    expect(stdout).toBe('[]\n0\n');
  });

  test.each(['off', 'workspace'])(
    'with sandbox %s cannot read settings and records, even if flags place them in the project',
    (sandbox) => {
      const secret = 'env_withhold: [HIDDEN_FROM_COMMANDS]\n';
      const named = join(here.home, 'project', 'named.yaml');
      mkdirSync(join(here.home, '.config', 'nacre'), { recursive: true });
      for (const path of [named, join(here.home, '.config', 'nacre', 'config.yaml')])
        writeFileSync(path, secret);
      const look =
        'cat named.yaml ~/.config/nacre/*; ls audit; grep -rl HIDDEN_FROM_COMMANDS ~ . 2> /dev/null; true';
      const flags = ['--config', named, '--audit-dir', join(here.home, 'project', 'audit')];
      const { stdout } = nacre(look, '--sandbox', sandbox, ...flags);
      expect(stdout).toBe('');
    },
  );
});

interface Report {
  readonly supervision?: string;
  readonly sandbox?: string;
  readonly gaps: readonly string[];
  readonly error?: { readonly code: string; readonly hint: string };
}

/** The machine report of `nacre doctor`, without its other checks. */
function report(
  { home, cli, identity }: ReturnType<typeof useUser>,
  settings: object,
  { path = '/usr/bin:/bin', prefix = [] as readonly string[] } = {},
): Report {
  const library = pathToFileURL(join(dirname(cli), 'index.js')).href;
  const script = `const { createNacre } = await import(${JSON.stringify(library)});
    const nacre = await createNacre(${JSON.stringify({ loginEnv: 'never', ...settings })});
    const found = await nacre.report().catch(({ code, hint }) => ({ error: { code, hint } }));
    console.log(JSON.stringify(found));
    await nacre.close();`;
  const [program = '', ...args] = [...prefix, process.execPath, '--input-type=module', '-e', script];
  const env = { PATH: path, HOME: home };
  const { stdout } = spawnSync(program, args, { env, cwd: home, encoding: 'utf8', ...identity });
  return JSON.parse(stdout);
}

describe.each(users)('E2: the supervision level for user %s', (user) => {
  const here = useUser(user);
  /** The report with a PATH on which programs are missing or fail. */
  const reportWith = (name: string, without: Without) => {
    mkdirSync(join(here.home, name));
    return report(here, {}, { path: pathWithout(join(here.home, name), without) });
  };

  test('is namespace if bubblewrap works', () => {
    expect(report(here, {})).toMatchObject({ supervision: 'namespace' });
  });

  test.each([
    ['is missing', { hidden: ['bwrap'] }],
    ['is not permitted', { broken: ['bwrap'] }],
  ])('is unshare, with a gap, if bubblewrap %s', (name, without) => {
    const found = reportWith(name, without);
    expect(found).toMatchObject({ supervision: 'unshare' });
    expect(found.gaps.join(' ')).toContain('not hidden');
  });

  test('is group, with gaps, if namespaces are denied', () => {
    const found = reportWith('denied', { broken: ['bwrap', 'unshare'] });
    expect(found).toMatchObject({ supervision: 'group' });
    expect(found.gaps.length).toBeGreaterThan(0);
  });

  test('is group if the kernel denies user namespaces, and a sandbox is refused', (context) => {
    needPrograms(context, 'setpriv', 'unshare');
    // Inside a new user namespace the sysctl can be set without affecting the machine; `setpriv` then drops all capabilities.
    const deny = 'echo 0 > /proc/sys/user/max_user_namespaces; exec "$0" "$@"';
    const powerless = ['--ambient-caps=-all', '--inh-caps=-all', '--bounding-set=-all'];
    const prefix = [
      ...['unshare', '--user', '--map-current-user', '--keep-caps', 'bash', '-c', deny],
      ...['setpriv', ...powerless],
    ];
    const found = report(here, {}, { prefix });
    expect(found).toMatchObject({ supervision: 'group', sandbox: 'off' });
    expect(found.gaps.join(' ')).toContain('is not found again');
    expect(report(here, { sandbox: 'workspace' }, { prefix }).error).toMatchObject({
      code: 'isolation_unavailable',
      hint: expect.stringContaining('apt-get install bubblewrap'),
    });
  });
});
