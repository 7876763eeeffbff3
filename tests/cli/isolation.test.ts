import { spawnSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { pathWithout, type Without } from '../support/path-without.ts';
import { cliFor, users } from '../support/users.ts';

// Not below /tmp, which a sandbox replaces by one of its own.
let home = '';
beforeEach(() => {
  home = mkdtempSync('/var/tmp/nacre-isolation-');
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

/** Traces the server without stopping it, reads its memory and environment and asks whether it could be signalled; tells what worked. */
const reachServer = [
  `python3 -c 'import ctypes, os; print("traced" if ctypes.CDLL(None).ptrace(0x4206, int(os.environ["SERVER"]), 0, 0) == 0 else "")' | grep .`,
  'head -c 1 /proc/$SERVER/mem > /dev/null 2>&1 && echo read',
  'grep -l server-secret /proc/$SERVER/environ 2> /dev/null',
  'kill -0 $SERVER 2> /dev/null && echo would end it',
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

describe.each(users)('E5: a sandboxed command of the user %s', (user) => {
  const nacre = (script: string, ...flags: string[]) => {
    const { cli, identity } = cliFor(user, home);
    const project = join(home, 'project');
    mkdirSync(project, { recursive: true });
    if (identity.uid !== undefined) chownSync(project, identity.uid, identity.uid);
    const env = {
      PATH: process.env.PATH ?? '',
      HOME: home,
      NACRE_LOGIN_ENV: 'never',
      SECRET_TOKEN: 'server-secret',
    };
    // The command knows the server's number, which is no secret, and the server has one descriptor too many.
    const args = [
      '-c',
      'exec 9< /etc/passwd; SERVER=$$ exec "$@"',
      'bash',
      process.execPath,
      cli,
      'run',
      '--json',
      ...flags,
      script,
    ];
    const { stdout } = spawnSync('bash', args, {
      env,
      cwd: project,
      encoding: 'utf8',
      timeout: 30_000,
      killSignal: 'SIGKILL',
      ...identity,
    });
    return JSON.parse(stdout);
  };

  test.each(['workspace', 'strict'])(
    'in %s cannot write outside, gain a capability or remount what is read-only',
    (sandbox) => {
      const attempts = [
        'echo x > /etc/nacre-escape',
        `echo x > ${home}/escape`,
        'mount -o remount,rw /',
        'unshare -Urm sh -c "mount -o remount,rw,bind / && echo x > /etc/nacre-escape"',
        'mknod sda b 8 0 && head -c 1 sda',
        `nsenter -t 1 -m sh -c "echo x > ${home}/escape"`,
        'chroot / true && [ "$(grep CapEff /proc/self/status | cut -f2)" != 0000000000000000 ] && echo capable',
      ];
      const script = attempts.map((attempt) => `( ${attempt} ) 2> /dev/null`).join('\n');
      const { stdout } = nacre(`${script}\necho end`, '--sandbox', sandbox);
      expect(stdout).toBe('end\n');
      expect([`${home}/escape`, '/etc/nacre-escape'].filter(existsSync)).toEqual([]);
    },
  );

  test('cannot see the server: neither its processes, nor its environment, nor its files', () => {
    const script =
      'cat /proc/*/environ 2> /dev/null | tr "\\0" "\\n" | grep server-secret; ls -A ~/.local/state/nacre; ps -e | grep -c node; true';
    const { stdout, warnings } = nacre(script, '--sandbox', 'off');
    expect(stdout).toBe('0\n');
    expect(warnings.join(' ')).toContain('ps saw only processes that this command started');
  });

  test.each(['off', 'workspace'])(
    'with sandbox %s cannot read settings or records, also where others name their places',
    (sandbox) => {
      const secret = 'env_withhold: [NOBODY_KNOWS]\n';
      const named = join(home, 'project', 'named.yaml');
      mkdirSync(join(home, 'project'), { recursive: true });
      mkdirSync(join(home, '.config', 'nacre'), { recursive: true });
      for (const path of [named, join(home, '.config', 'nacre', 'config.yaml')]) writeFileSync(path, secret);
      const { uid } = cliFor(user, home).identity;
      if (uid !== undefined) chownSync(join(home, 'project'), uid, uid);
      const look = 'cat named.yaml ~/.config/nacre/*; ls audit; grep -rl NOBODY_KNOWS ~ . 2> /dev/null; true';
      const flags = ['--config', named, '--audit-dir', join(home, 'project', 'audit')];
      const { stdout } = nacre(look, '--sandbox', sandbox, ...flags);
      expect(stdout).toBe('');
    },
  );

  test.each(['off', 'workspace', 'strict'])(
    'with sandbox %s cannot trace the server, read its memory or end it',
    (sandbox) => {
      const { stdout } = nacre(`${reachServer}\necho end`, '--sandbox', sandbox);
      expect(stdout).toBe('end\n');
    },
  );

  test('without a namespace can, and the result says so', () => {
    const { stdout } = nacre(reachServer, '--processes', 'host');
    expect(stdout).toContain('would end it');
    const { cli, identity } = cliFor(user, home);
    const options = { env: { PATH: '/usr/bin:/bin', HOME: home }, encoding: 'utf8', ...identity } as const;
    const words = [cli, 'doctor', '--processes', 'host'];
    expect(spawnSync(process.execPath, words, { cwd: home, ...options }).stdout).toContain(
      "nacre's server among them",
    );
  });

  test('in workspace builds and runs with gcc, make, npm, node, python and git', () => {
    mkdirSync(join(home, 'project', 'dep'), { recursive: true });
    for (const [name, text] of Object.entries(projectFiles))
      writeFileSync(join(home, 'project', name), text, { mode: 0o755 });
    const { uid } = cliFor(user, home).identity;
    for (const name of uid === undefined ? [] : ['dep', ...Object.keys(projectFiles)])
      chownSync(join(home, 'project', name), uid ?? 0, uid ?? 0);
    const { stdout, stderr } = nacre(build, '--sandbox', 'workspace');
    expect({ stdout, stderr }).toEqual({ stdout: built, stderr: '> b\n' });
  });

  test('reaches no socket of the machine', async () => {
    const path = join(home, 'server.sock');
    const servers = [path, '\0nacre-abstract-test'].map((address) =>
      createServer((peer) => peer.end('leak')).listen(address),
    );
    await Promise.all(servers.map((server) => new Promise((done) => server.once('listening', done))));
    chmodSync(path, 0o777);
    const connect = (address: string) =>
      `python3 -c 'import socket; s = socket.socket(socket.AF_UNIX); s.connect(${JSON.stringify(address)}); print(s.recv(9))' 2> /dev/null`;
    const heard: string[] = [];
    const datagrams = createSocket('udp4', (message) => heard.push(`${message}`)).bind(0, '127.0.0.1');
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
    expect(heard).toEqual([]);
    datagrams.close();
    for (const server of servers) server.close();
  });

  test('shares nothing with the one before it: no file in /tmp, no variable, no descriptor, no process', () => {
    const open = 'exec 7< /etc/passwd; sleep 50 &';
    nacre(`echo x > /tmp/nacre-shared; export SHARED=1; ${open}`, '--sandbox', 'workspace');
    const look = 'ls /tmp; echo "[$SHARED]"; ps -e | grep -c sleep; cat <&7; cat <&9';
    const { stdout } = nacre(look, '--sandbox', 'workspace');
    expect(stdout).toBe('[]\n0\n');
    // Nor does it get what whoever started the server had left open: the password file on descriptor 9.
    expect(nacre('cat <&9; echo end', '--processes', 'host').stdout).toBe('end\n');
  });
});

describe.each(users)('E2: the ladder of the user %s', (user) => {
  const doctor = (words: readonly string[], identity: object, path: string, ...flags: string[]) => {
    const env = { PATH: path, HOME: home, NACRE_LOGIN_ENV: 'never' };
    const [program = '', ...args] = [...words, 'doctor', '--json', ...flags];
    const { stdout } = spawnSync(program, args, { env, cwd: home, encoding: 'utf8', ...identity });
    return JSON.parse(stdout);
  };
  /** What doctor finds with a PATH on which programs are missing or fail. */
  const levelWith = (without: Without) => {
    const { cli, identity } = cliFor(user, home);
    return doctor([process.execPath, cli], identity, pathWithout(home, without));
  };

  test('stands at namespace where bubblewrap works', () => {
    expect(levelWith({})).toMatchObject({ supervision: 'namespace' });
  });

  test.each([
    ['is missing', { hidden: ['bwrap'] }],
    ['is not permitted', { broken: ['bwrap'] }],
  ])('falls to unshare where bubblewrap %s, and names the gap', (_what, without) => {
    const report = levelWith(without);
    expect(report).toMatchObject({ supervision: 'unshare' });
    expect(report.gaps.join(' ')).toContain('not hidden');
  });

  test('falls to process groups where namespaces are denied, and names the gaps', () => {
    const report = levelWith({ broken: ['bwrap', 'unshare'] });
    expect(report).toMatchObject({ supervision: 'group' });
    expect(report.gaps.length).toBeGreaterThan(0);
  });

  test('falls to process groups where the kernel denies user namespaces, and refuses what needs more', () => {
    const { cli, identity } = cliFor(user, home);
    // In a user namespace of its own the limit can be set without harm to anybody, and given up for good.
    const deny = 'echo 0 > /proc/sys/user/max_user_namespaces; exec "$0" "$@"';
    const powerless = ['--ambient-caps=-all', '--inh-caps=-all', '--bounding-set=-all'];
    const words = [
      ...['unshare', '--user', '--map-current-user', '--keep-caps', 'bash', '-c', deny],
      ...['setpriv', ...powerless, process.execPath, cli],
    ];
    const report = doctor(words, identity, '/usr/bin:/bin');
    expect(report).toMatchObject({ supervision: 'group', sandbox: 'off' });
    expect(report.gaps.join(' ')).toContain('is not found again');
    const refused = doctor(words, identity, '/usr/bin:/bin', '--sandbox', 'workspace');
    expect(refused.error).toMatchObject({
      code: 'isolation_unavailable',
      hint: expect.stringContaining('apt-get install bubblewrap'),
    });
  });
});
