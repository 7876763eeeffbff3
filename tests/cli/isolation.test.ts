import { spawnSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { needLevel, needPrograms } from '../support/needs.ts';
import { createHome, type Home, own, runSteps, type StepResult } from '../support/run-steps.ts';
import { users } from '../support/users.ts';

beforeEach((context) => needLevel(context, 'namespace'));

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
const npmBuild = [
  'npm install --offline --no-audit --no-fund --silent && npm start --silent && npx --no-install dep',
  'npm pack --silent',
  'python3 -m venv --without-pip v && v/bin/python -c "print(3)"',
].join('\n');
const build = [
  'make -s && ./hello',
  'git init -q . && git add hello.c && git -c user.name=a -c user.email=a@b commit -q -m first && git log --format=%s',
  'diff <(echo a) <(echo b) | tee >(tail -n 1 >&2) 2>&1 | head -n 1',
  'sleep 0.1 & wait $! && echo waited',
].join('\n');
// npm and venv take seconds, so only one user runs them.
const npmUser = users.at(-1);

function putProject({ project, identity }: Home): void {
  mkdirSync(join(project, 'dep'));
  for (const [name, text] of Object.entries(projectFiles))
    writeFileSync(join(project, name), text, { mode: 0o755 });
  own(identity, ...['dep', ...Object.keys(projectFiles)].map((name) => join(project, name)));
}

/** Sockets of this machine that a command could reach, and what arrived at them. */
async function listen(home: string) {
  const path = join(home, 'server.sock');
  const abstract = `nacre-abstract-${process.pid}`;
  const servers = [path, `\0${abstract}`].map((address) =>
    createServer((peer) => peer.end('leak')).listen(address),
  );
  const received: string[] = [];
  const datagrams = createSocket('udp4', (message) => received.push(`${message}`)).bind(0, '127.0.0.1');
  await Promise.all([...servers, datagrams].map((one) => once(one, 'listening')));
  chmodSync(path, 0o777);
  const connect = (address: string) =>
    `python3 -c 'import socket; s = socket.socket(socket.AF_UNIX); s.connect(${JSON.stringify(address)}); print(s.recv(9))' 2> /dev/null`;
  const reachSockets = [
    connect(`\\0${abstract}`),
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
  let results: readonly StepResult[] = [];
  const stdoutOf = (step: number, script = 0) => results[step]?.outcomes[script]?.stdout;

  beforeAll(async () => {
    here = createHome(user);
    putProject(here);
    sockets = await listen(here.home);
    const attempts = `${escapeSandbox(here.home)}\n${reachServer}\necho end`;
    results = await runSteps(here, [
      {
        settings: { sandbox: 'workspace', danger: 'off' },
        scripts: [attempts, share, seeShared, build, ...(user === npmUser ? [npmBuild] : [])],
      },
      {
        settings: { sandbox: 'strict', danger: 'off' },
        scripts: [attempts, `${sockets.reachSockets}; echo end`],
      },
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

  test('in a workspace builds and runs with gcc, make and git', (context) => {
    needPrograms(context, 'gcc', 'make', 'git');
    const { stdout, stderr } = results[0]?.outcomes[3] ?? {};
    expect({ stdout, stderr }).toEqual({ stdout: 'built\nfirst\n1c1\nwaited\n', stderr: '> b\n' });
  });

  if (user === npmUser)
    test('in a workspace installs and runs with npm, node and python', (context) => {
      needPrograms(context, 'npm', 'python3');
      const { stdout, stderr } = results[0]?.outcomes[4] ?? {};
      expect({ stdout, stderr }).toEqual({ stdout: '2\ndependency\nproject-1.0.0.tgz\n3\n', stderr: '' });
    });

  test('reaches no socket of the machine', () => {
    expect(stdoutOf(1, 1)).toBe('end\n');
    expect(sockets.received).toEqual([]);
  });

  test('shares /tmp, but no variable, descriptor or process, with the command before it', () => {
    expect(stdoutOf(0, 2)).toBe('nacre-shared\n[]\n0\n');
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
