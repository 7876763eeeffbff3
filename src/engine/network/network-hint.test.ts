import { describe, expect, test } from 'vitest';
import type { Enforcement } from '../../contract/isolation.ts';
import { type NetworkEvidence, networkHint } from './network-hint.ts';
import { networkProgramsOf } from './network-use.ts';

const off: Enforcement = {
  ...{ level: 'namespace', sandbox: 'workspace', files: 'namespace', network: 'off', processes: 'own' },
  ...{ setuid: false, exec: 'off', gaps: [] },
};

/** The hint for a script; the first word after each operator is a program. */
function hintFor(script: string, outcome: Partial<NetworkEvidence> = {}, enforcement = off) {
  const programs = [...script.matchAll(/(?<=^|[;|&]\s?)[\w./-]+/g)].map(({ 0: name, index }) => ({
    ...{ name, pos: index },
    end: index + name.length,
  }));
  return networkHint(
    { cause: 'exit', exitCode: 1, stdout: '', stderr: '', deniedHosts: [], ...outcome, enforcement },
    networkProgramsOf({ kind: 'shell', script }, programs),
  );
}

const isOff = /^The network is off in this sandbox\. The user can allow hosts with the setting network_allow/;

describe('a command that failed because it had no network gets the hint', () => {
  // Printed by these programs in a network namespace without interfaces.
  test.each([
    ['curl https://example.com', 6, 'curl: (6) Could not resolve host: example.com'],
    [
      'curl http://192.0.2.1/',
      7,
      "curl: (7) Failed to connect to 192.0.2.1 port 80 after 0 ms: Couldn't connect to server",
    ],
    ['wget http://192.0.2.1/', 4, 'Connecting to 192.0.2.1:80... failed: Network is unreachable.'],
    ['wget https://example.com', 4, 'wget: unable to resolve host address ‘example.com’'],
    [
      'git clone https://example.com/x.git',
      128,
      "fatal: unable to access 'https://example.com/x.git/': Could not resolve host: example.com",
    ],
    ['git pull', 128, 'ssh: Could not resolve hostname example.com: Temporary failure in name resolution'],
    [
      'npm ci',
      1,
      'npm error request to https://registry.npmjs.org/x failed, reason: getaddrinfo EAI_AGAIN registry.npmjs.org',
    ],
    [
      'pip install x',
      1,
      'WARNING: Retrying … NewConnectionError: [Errno -3] Temporary failure in name resolution',
    ],
    [
      'apt-get update',
      100,
      "Err:1 http://deb.debian.org/debian Temporary failure resolving 'deb.debian.org'",
    ],
    ['node app.js', 1, 'TypeError: fetch failed\n  [cause]: Error: getaddrinfo ENOTFOUND example.com'],
    ['node app.js', 1, 'Error: connect ENETUNREACH 192.0.2.1:80'],
    [
      'python3 a.py',
      1,
      'urllib.error.URLError: <urlopen error [Errno -3] Temporary failure in name resolution>',
    ],
    ['go build ./...', 1, 'dial tcp: lookup proxy.golang.org: no such host'],
    ['make', 2, 'curl: (6) Could not resolve host: example.com'],
  ])('%s (exit %i)', (script, exitCode, stderr) => {
    expect(hintFor(script, { exitCode, stderr })).toMatch(isOff);
  });

  test('also if the message went through a pipe that exits with 0', () => {
    const stdout = 'npm error code EAI_AGAIN\n';
    expect(hintFor('npm install 2>&1 | tail -5', { exitCode: 0, stdout })).toMatch(isOff);
  });

  test('also if the program printed nothing, or only its exit code shows it', () => {
    expect(hintFor('curl -s https://example.com | jq .', { exitCode: 0 })).toMatch(isOff);
    expect(hintFor('curl -s https://example.com -o f', { exitCode: 6, stdout: 'a' })).toMatch(isOff);
  });

  test('also after a timeout of a program that retries', () => {
    expect(hintFor('npm install', { cause: 'timeout', exitCode: 137 })).toMatch(isOff);
    expect(hintFor('/usr/bin/git fetch', { cause: 'timeout', exitCode: 137 })).toMatch(isOff);
  });

  test('the sandbox strict has no network: on to offer', () => {
    const strict = { ...off, sandbox: 'strict' } as const;
    expect(hintFor('curl -s https://example.com', { exitCode: 6 }, strict)).not.toContain('network: on');
    expect(hintFor('curl -s https://example.com', { exitCode: 6 })).toContain('network: on');
  });
});

describe('no hint for', () => {
  const message = 'curl: (6) Could not resolve host: example.com\n';

  test.each<[string, string, Partial<NetworkEvidence>]>([
    ['a search that prints the message', 'grep -rn "Could not resolve" .', { exitCode: 0, stdout: message }],
    ['a search that prints it and fails', 'grep -rn resolve a b', { exitCode: 2, stdout: message }],
    ['tests that print it and pass', 'npm test', { exitCode: 0, stdout: message, stderr: message }],
    [
      'a refused connection to localhost',
      'curl http://localhost:3000',
      {
        exitCode: 7,
        stderr: "curl: (7) Failed to connect to localhost port 3000 after 0 ms: Couldn't connect to server",
      },
    ],
    ['a silent one', 'curl -s http://127.0.0.1:3000', { exitCode: 7 }],
    [
      'a refused database connection',
      'node app.js',
      { exitCode: 1, stderr: 'Error: connect ECONNREFUSED 127.0.0.1:5432' },
    ],
    ['a timeout of a program that needs no network', 'npm test', { cause: 'timeout', exitCode: 137 }],
    ['a timeout of a server on localhost', 'curl http://localhost:3000', { cause: 'timeout', exitCode: 137 }],
    ['a command that succeeded', 'git pull', { exitCode: 0, stdout: 'Already up to date.\n' }],
    [
      'a failure of another kind',
      'git push',
      { exitCode: 1, stderr: 'error: src refspec main does not match any' },
    ],
    [
      'sudo without its own host name',
      'sudo ls',
      { exitCode: 1, stderr: 'sudo: unable to resolve host box: ...' },
    ],
  ])('%s', (_what, script, outcome) => {
    expect(hintFor(script, outcome)).toBeUndefined();
  });

  test('a command that has a network, or that did not run', () => {
    const on = { ...off, network: 'on' } as const;
    expect(hintFor('curl https://example.com', { exitCode: 6, stderr: message }, on)).toBeUndefined();
    const evidence = { cause: 'exit', exitCode: 6, stdout: '', stderr: message, deniedHosts: [] } as const;
    expect(networkHint({ ...evidence, enforcement: null }, ['curl'])).toBeUndefined();
  });
});

test('a filtered network names the refused hosts, or its proxy', () => {
  const filtered = { ...off, network: 'filtered' } as const;
  const deniedHosts = ['example.com:443'];
  expect(hintFor('npm ci', { exitCode: 0, deniedHosts }, filtered)).toMatch(
    /^This sandbox may not connect to example\.com:443\. The user can allow hosts with the setting network_allow/,
  );
  const stderr = 'ssh: Could not resolve hostname example.com: Temporary failure in name resolution';
  expect(hintFor('ssh example.com', { exitCode: 255, stderr }, filtered)).toMatch(/only through the proxy/);
});

test.each([
  [
    'curl http://localhost:3000',
    7,
    "curl: (7) Failed to connect to localhost port 3000 after 0 ms: Couldn't connect to server",
  ],
  ['node server.js', 1, 'Error: listen EACCES: permission denied 0.0.0.0:3000'],
  ['node app.js', 1, 'Error: connect EACCES 127.0.0.1:5432'],
  ['ssh a@192.0.2.1', 255, 'socket: Permission denied'],
  [
    'python3 a.py',
    1,
    '  File "/usr/lib/python3.11/socket.py", line 232, in __init__\nPermissionError: [Errno 13] Permission denied',
  ],
])(
  'without namespaces no sockets are allowed, not even on localhost: %s (exit %i)',
  (script, exitCode, stderr) => {
    const hint = hintFor(script, { exitCode, stderr }, { ...off, files: 'landlock' });
    expect(hint).toMatch(/^The network is off in this sandbox, even for localhost\. .* network: on/);
    expect(hint).not.toContain('network_allow');
  },
);
