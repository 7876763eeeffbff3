import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { cliFor, users } from '../support/users.ts';

// Not below /tmp, which a sandbox replaces by one of its own.
let home = '';
beforeEach(() => {
  home = mkdtempSync('/var/tmp/nacre-isolation-');
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

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
    const args = [cli, 'run', '--json', ...flags, script];
    const { stdout } = spawnSync(process.execPath, args, {
      env,
      cwd: project,
      encoding: 'utf8',
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

  test('reaches no socket of the machine', async () => {
    const path = join(home, 'server.sock');
    const servers = [path, '\0nacre-abstract-test'].map((address) =>
      createServer((peer) => peer.end('leak')).listen(address),
    );
    await Promise.all(servers.map((server) => new Promise((done) => server.once('listening', done))));
    chmodSync(path, 0o777);
    const connect = (address: string) =>
      `python3 -c 'import socket; s = socket.socket(socket.AF_UNIX); s.connect(${JSON.stringify(address)}); print(s.recv(9))' 2> /dev/null`;
    const { stdout } = nacre(
      `${connect('\\0nacre-abstract-test')}; cat < /dev/tcp/127.0.0.1/22 2> /dev/null; echo end`,
      '--sandbox',
      'strict',
    );
    expect(stdout).toBe('end\n');
    for (const server of servers) server.close();
  });

  test('shares nothing with the one before it: no file in /tmp, no variable, no process', () => {
    nacre('echo x > /tmp/nacre-shared; export SHARED=1; sleep 50 &', '--sandbox', 'workspace');
    const { stdout } = nacre('ls /tmp; echo "[$SHARED]"; ps -e | grep -c sleep', '--sandbox', 'workspace');
    expect(stdout).toBe('[]\n0\n');
  });
});

describe('E2: the ladder', () => {
  /** What doctor finds with only these programs on the PATH; a missing one is hidden, a broken one fails. */
  const levelWith = ({ hidden = [], broken = [] }: { hidden?: string[]; broken?: string[] }) => {
    const bin = join(home, 'bin');
    mkdirSync(bin);
    for (const name of ['bash', 'bwrap', 'mkfifo', 'setpriv', 'unshare', 'ps', 'true', 'sleep', 'mount']) {
      const place = ['/usr/bin', '/bin'].map((folder) => join(folder, name)).find(existsSync);
      if (place && !hidden.includes(name) && !broken.includes(name)) symlinkSync(place, join(bin, name));
    }
    for (const name of broken)
      writeFileSync(join(bin, name), '#!/bin/sh\necho "$0: not permitted" >&2\nexit 1\n', { mode: 0o755 });
    const { cli } = cliFor('root', home);
    const env = { PATH: bin, HOME: home, NACRE_LOGIN_ENV: 'never' };
    const { stdout } = spawnSync(process.execPath, [cli, 'doctor', '--json'], {
      env,
      cwd: home,
      encoding: 'utf8',
    });
    return JSON.parse(stdout);
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
});
