import { spawn, spawnSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createWebServer } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { collect } from '../support/nacre.ts';
import { needLevel, needPrograms } from '../support/needs.ts';
import { pathWithout } from '../support/path-without.ts';
import { cliFor, type User, users } from '../support/users.ts';

beforeEach((context) => needLevel(context, 'namespace'));

/** Commands, or a machine report if `scripts` is absent, of one nacre with its own settings. */
interface Step {
  readonly settings?: object;
  readonly path?: string;
  readonly scripts?: readonly string[];
}

interface Result {
  readonly outcomes: readonly { stdout: string; stderr: string; warnings: readonly string[] }[];
  readonly report: { supervision?: string; sandbox?: string; gaps: readonly string[] };
  readonly error?: { readonly code: string; readonly hint: string };
}

/** Runs steps one after the other in one server process, since most of the time of a step is the start of Node. */
const server = `const { createNacre } = await import(process.argv[1]);
process.env.SERVER = String(process.pid);
for (const { settings, path = process.env.PATH, scripts } of JSON.parse(process.argv[2])) {
  const nacre = await createNacre({ loginEnv: 'never', ...settings }, { env: { ...process.env, PATH: path } });
  const result = { outcomes: [] };
  try {
    if (!scripts) result.report = await nacre.report();
    for (const script of scripts ?? []) result.outcomes.push(await nacre.run(script));
  } catch ({ code, hint, message }) {
    result.error = { code, hint, message };
  }
  console.log(JSON.stringify(result));
  await nacre.close();
}`;

interface Home {
  home: string;
  project: string;
  cli: string;
  identity: { uid?: number; gid?: number };
}

/** A home directory for all tests of one user. Not below /tmp, because a sandbox mounts its own /tmp. */
function createHome(user: User): Home {
  const home = mkdtempSync('/var/tmp/nacre-isolation-');
  const { cli, identity } = cliFor(user, home);
  const project = join(home, 'project');
  mkdirSync(project);
  own(identity, project);
  return { home, project, cli, identity };
}

function own({ uid }: { readonly uid?: number }, ...paths: readonly string[]): void {
  if (uid !== undefined) for (const path of paths) chownSync(path, uid, uid);
}

async function runSteps(
  { home, project, cli, identity }: Home,
  steps: readonly Step[],
  prefix: readonly string[] = [],
): Promise<readonly Result[]> {
  const library = pathToFileURL(join(dirname(cli), 'index.js')).href;
  const node = [process.execPath, '--input-type=module', '-e', server, library, JSON.stringify(steps)];
  // The server inherits an extra file descriptor, 9.
  const child = spawn('bash', ['-c', 'exec 9< /etc/passwd; exec "$@"', 'bash', ...prefix, ...node], {
    env: { PATH: process.env.PATH ?? '', HOME: home, SECRET_TOKEN: 'server-secret' },
    cwd: project,
    ...identity,
  });
  const [out, err] = [collect(child.stdout), collect(child.stderr)];
  await once(child, 'close');
  const lines = out.text().trim().split('\n');
  expect(lines, err.text()).toHaveLength(steps.length);
  return lines.map((line) => JSON.parse(line));
}

/** Tries to ptrace the server without stopping it, to read its memory and environment, and to signal it; prints what worked. */
const reachServer = [
  `python3 -c 'import ctypes, os; print("traced" if ctypes.CDLL(None).ptrace(0x4206, int(os.environ["SERVER"]), 0, 0) == 0 else "")' | grep .`,
  'head -c 1 /proc/$SERVER/mem > /dev/null 2>&1 && echo read',
  'grep -l server-secret /proc/$SERVER/environ 2> /dev/null',
  'kill -0 $SERVER 2> /dev/null && echo signalled',
].join('\n');

const escapeSandbox = (home: string) =>
  [
    'echo x > /etc/nacre-escape',
    `echo x > ${home}/escape`,
    'mount -o remount,rw /',
    'unshare -Urm sh -c "mount -o remount,rw,bind / && echo x > /etc/nacre-escape"',
    'mknod sda b 8 0 && head -c 1 sda',
    `nsenter -t 1 -m sh -c "echo x > ${home}/escape"`,
    'chroot / true && [ "$(grep CapEff /proc/self/status | cut -f2)" != 0000000000000000 ] && echo capable',
  ]
    .map((attempt) => `( ${attempt} ) 2> /dev/null`)
    .join('\n');

const seeServer =
  'cat /proc/*/environ 2> /dev/null | tr "\\0" "\\n" | grep server-secret; ls -A ~/.local/state/nacre; ps -e | grep -c node';

const share = 'echo x > /tmp/nacre-shared; export SHARED=1; exec 7< /etc/passwd; sleep 50 &';
const seeShared = 'ls /tmp; echo "[$SHARED]"; ps -e | grep -c sleep; cat <&7; cat <&9';

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

function putProject({ project, identity }: Home): void {
  mkdirSync(join(project, 'dep'));
  for (const [name, text] of Object.entries(projectFiles))
    writeFileSync(join(project, name), text, { mode: 0o755 });
  own(identity, ...['dep', ...Object.keys(projectFiles)].map((name) => join(project, name)));
}

/** Sockets of this machine that a command could reach, and what arrived at them. */
async function listen(home: string) {
  const path = join(home, 'server.sock');
  const servers = [path, '\0nacre-abstract-test'].map((address) =>
    createServer((peer) => peer.end('leak')).listen(address),
  );
  const received: string[] = [];
  const datagrams = createSocket('udp4', (message) => received.push(`${message}`)).bind(0, '127.0.0.1');
  await Promise.all([...servers, datagrams].map((one) => once(one, 'listening')));
  chmodSync(path, 0o777);
  const connect = (address: string) =>
    `python3 -c 'import socket; s = socket.socket(socket.AF_UNIX); s.connect(${JSON.stringify(address)}); print(s.recv(9))' 2> /dev/null`;
  const reachSockets = [
    connect('\\0nacre-abstract-test'),
    connect(path),
    'cat < /dev/tcp/127.0.0.1/22 2> /dev/null',
    `echo leak > /dev/udp/127.0.0.1/${datagrams.address().port} 2> /dev/null`,
  ].join('; ');
  const close = () => {
    for (const one of [...servers, datagrams]) one.close();
  };
  return { reachSockets, received, close };
}

describe.each(users)('E5: a sandboxed command of user %s', (user) => {
  let here: Home;
  let sockets: Awaited<ReturnType<typeof listen>>;
  let results: readonly Result[] = [];
  const stdoutOf = (step: number, script = 0) => results[step]?.outcomes[script]?.stdout;

  beforeAll(async () => {
    here = createHome(user);
    putProject(here);
    sockets = await listen(here.home);
    const attempts = `${escapeSandbox(here.home)}\n${reachServer}\necho end`;
    results = await runSteps(here, [
      { settings: { sandbox: 'workspace' }, scripts: [attempts, share, seeShared, build] },
      { settings: { sandbox: 'strict' }, scripts: [attempts, `${sockets.reachSockets}; echo end`] },
      { settings: { sandbox: 'off' }, scripts: [`${seeServer}\n${reachServer}\necho end`] },
      { settings: { processes: 'host' }, scripts: [`${reachServer}\ncat <&9; echo end`] },
      { settings: { processes: 'host' } },
    ]);
  }, 60_000);
  afterAll(() => {
    sockets.close();
    rmSync(here.home, { recursive: true, force: true });
  });

  test('with sandbox workspace or strict cannot write outside, gain a capability, remount or reach the server', () => {
    expect([stdoutOf(0), stdoutOf(1)]).toEqual(['end\n', 'end\n']);
    expect([`${here.home}/escape`, '/etc/nacre-escape'].filter(existsSync)).toEqual([]);
  });

  test("with sandbox off cannot see the server's processes, environment and files, or reach the server", () => {
    expect(stdoutOf(2)).toBe('0\nend\n');
    expect(results[2]?.outcomes[0]?.warnings.join(' ')).toContain(
      'ps saw only processes that this command started',
    );
  });

  test('without a namespace can reach the server, but gets no file descriptor of it', () => {
    expect(stdoutOf(3)).toMatch(/signalled\nend\n$/);
    expect(results[4]?.report.gaps.join(' ')).toContain("nacre's server among them");
  });

  test('in a workspace builds and runs with gcc, make, npm, node, python and git', (context) => {
    needPrograms(context, 'gcc', 'make', 'npm', 'python3', 'git');
    const { stdout, stderr } = results[0]?.outcomes[3] ?? {};
    expect({ stdout, stderr }).toEqual({ stdout: built, stderr: '> b\n' });
  });

  test('reaches no socket of the machine', () => {
    expect(stdoutOf(1, 1)).toBe('end\n');
    expect(sockets.received).toEqual([]);
  });

  test('shares no file in /tmp, variable, descriptor or process with the command before it', () => {
    expect(stdoutOf(0, 2)).toBe('[]\n0\n');
  });

  test.each(['off', 'workspace'])(
    'with sandbox %s cannot read settings and records, even if flags place them in the project',
    (sandbox) => {
      const secret = 'env_withhold: [HIDDEN_FROM_COMMANDS]\n';
      const named = join(here.project, 'named.yaml');
      mkdirSync(join(here.home, '.config', 'nacre'), { recursive: true });
      for (const path of [named, join(here.home, '.config', 'nacre', 'config.yaml')])
        writeFileSync(path, secret);
      const look =
        'cat named.yaml ~/.config/nacre/*; ls audit; grep -rl HIDDEN_FROM_COMMANDS ~ . 2> /dev/null; true';
      const flags = ['--sandbox', sandbox, '--config', named, '--audit-dir', join(here.project, 'audit')];
      const { stdout } = spawnSync(process.execPath, [here.cli, 'run', ...flags, look], {
        env: { PATH: process.env.PATH ?? '', HOME: here.home, NACRE_LOGIN_ENV: 'never' },
        cwd: here.project,
        encoding: 'utf8',
        ...here.identity,
      });
      expect(stdout).toBe('');
    },
  );
});

describe.each(users)('E2: the supervision level for user %s', (user) => {
  let here: Home;
  let results: readonly Result[] = [];
  let denied: readonly Result[] = [];

  /** A PATH on which programs are missing or fail. */
  const createPath = (name: string, without: Parameters<typeof pathWithout>[1]) => {
    mkdirSync(join(here.home, name));
    return pathWithout(join(here.home, name), without);
  };
  // Inside a new user namespace the sysctl can be set without affecting the machine; `setpriv` then drops all capabilities.
  const deny = 'echo 0 > /proc/sys/user/max_user_namespaces; exec "$0" "$@"';
  const withoutNamespaces = [
    ...['unshare', '--user', '--map-current-user', '--keep-caps', 'bash', '-c', deny],
    ...['setpriv', '--ambient-caps=-all', '--inh-caps=-all', '--bounding-set=-all'],
  ];

  beforeAll(async () => {
    here = createHome(user);
    results = await runSteps(here, [
      {},
      { path: createPath('hidden', { hidden: ['bwrap'] }) },
      { path: createPath('broken', { broken: ['bwrap'] }) },
      { path: createPath('denied', { broken: ['bwrap', 'unshare'] }) },
    ]);
    denied = await runSteps(here, [{}, { settings: { sandbox: 'workspace' } }], withoutNamespaces);
  }, 60_000);
  afterAll(() => rmSync(here.home, { recursive: true, force: true }));

  test('is namespace if bubblewrap works', () => {
    expect(results[0]?.report).toMatchObject({ supervision: 'namespace' });
  });

  test.each([
    ['is missing', 1],
    ['is not permitted', 2],
  ])('is unshare, with a gap, if bubblewrap %s', (_, step) => {
    expect(results[step]?.report).toMatchObject({ supervision: 'unshare' });
    expect(results[step]?.report.gaps.join(' ')).toContain('not hidden');
  });

  test('is group, with gaps, if namespaces are denied', () => {
    expect(results[3]?.report).toMatchObject({ supervision: 'group' });
    expect(results[3]?.report.gaps.length).toBeGreaterThan(0);
  });

  test('is group if the kernel denies user namespaces, and a sandbox is refused', (context) => {
    needPrograms(context, 'setpriv', 'unshare');
    expect(denied[0]?.report).toMatchObject({ supervision: 'group', sandbox: 'off' });
    expect(denied[0]?.report.gaps.join(' ')).toContain('is not found again');
    expect(denied[1]?.error).toMatchObject({
      code: 'isolation_unavailable',
      hint: expect.stringContaining('apt-get install bubblewrap'),
    });
  });
});

describe('nacre run with network_allow', () => {
  const web = createWebServer((_request, response) => response.end('hello\n'));
  let home = '';
  beforeAll(async () => {
    home = mkdtempSync('/var/tmp/nacre-network-');
    mkdirSync(join(home, 'project'));
    await once(web.listen(0, '127.0.0.1'), 'listening');
  });
  afterAll(() => {
    web.closeAllConnections();
    web.close();
    rmSync(home, { recursive: true });
  });

  test('reaches listed hosts, and names the hosts that were refused', async (context) => {
    needPrograms(context, 'curl');
    const { port } = web.address() as AddressInfo;
    const script = `curl -s http://allowed.localhost:${port}/; curl -s http://denied.localhost:${port}/ > /dev/null`;
    const env = {
      PATH: process.env.PATH ?? '',
      HOME: home,
      NACRE_LOGIN_ENV: 'never',
      NACRE_SANDBOX: 'workspace',
      NACRE_NETWORK_ALLOW: `allowed.localhost:${port}`,
    };
    const run = async (...flags: string[]) => {
      const args = [join(process.cwd(), 'dist/cli.js'), 'run', ...flags, script];
      const child = spawn(process.execPath, args, { env, cwd: join(home, 'project') });
      const [stdout, stderr] = [collect(child.stdout), collect(child.stderr)];
      const [code] = await once(child, 'close');
      return { code, stdout: stdout.text(), stderr: stderr.text() };
    };
    const [text, json] = await Promise.all([run(), run('--json')]);
    expect(text).toEqual({
      code: 0,
      stdout: 'hello\n',
      stderr: `nacre: refused by network_allow: denied.localhost:${port}.\n`,
    });
    expect(JSON.parse(json.stdout)).toMatchObject({
      stdout: 'hello\n',
      denied_hosts: [`denied.localhost:${port}`],
    });
  });
});
