import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { explainSsh, toSshArgv, toSshHost } from './ssh.ts';

const host = { host: 'gpu1' };

test.each(['-oProxyCommand=touch x', '', 'a b', 'a;b', '$(x)', 'a\nb', "a'b", '`x`'])(
  'the host name %j is refused',
  (name) => {
    expect(() => toSshArgv('gpu', { host: name }, ['true'])).toThrow('is not a valid host name for ssh');
  },
);

test.each(['gpu1', 'me@gpu1.example.org', 'ssh://me@gpu1:2222', '10.0.0.1', 'fe80::1%eth0', '[::1]'])(
  'the host name %j is accepted after the options',
  (name) => {
    const argv = toSshArgv('gpu', { host: name }, ['true']);
    expect(argv.slice(-3)).toEqual(['--', name, "exec 'true'"]);
  },
);

test('the login shell of the host passes every word on unchanged', () => {
  const words = ['a b', "it's", '$HOME', '`x`', '*', '\\', '"'];
  const command = toSshArgv('gpu', host, ['printf', '%s\\n', ...words]).at(-1) ?? '';
  expect(execFileSync('sh', ['-c', command], { encoding: 'utf8' })).toBe(`${words.join('\n')}\n`);
});

test('host keys are checked as the user configured, and neither agent nor X11 is forwarded', () => {
  const argv = toSshArgv('gpu', { host: 'gpu1', config: '/c' }, ['true']);
  expect(argv).toEqual(expect.arrayContaining(['-F', '/c', '-T', '-a', '-x', 'BatchMode=yes']));
  expect(argv.join(' ')).not.toMatch(/StrictHostKeyChecking|KnownHosts/i);
});

test.each([
  ['Host key verification failed.', 'its host key is not known', 'StrictHostKeyChecking=ask gpu1'],
  [
    'WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!\nHost key verification failed.',
    'host key has changed',
    'ssh-keygen -R',
  ],
  ['me@gpu1: Permission denied (publickey).', 'does not accept your key', 'ssh -o BatchMode=yes gpu1'],
  ['ssh: Could not resolve hostname gpu1: Name or service not known', 'cannot be resolved', 'Check the name'],
  ['ssh: connect to host gpu1 port 22: Connection refused', 'nothing listens', 'Start sshd'],
  ['ssh: connect to host gpu1 port 22: No route to host', 'no route', 'Check the network'],
  ['ssh: connect to host gpu1 port 22: Connection timed out', 'does not answer', 'ssh -v gpu1'],
  ['something else', 'ssh says: something else', 'ssh -v gpu1'],
])('the failure %j is explained', (stderr, reason, hint) => {
  const error = explainSsh('gpu', host, { code: 255, stderr });
  expect(error?.message).toContain(reason);
  expect(error?.hint).toContain(hint);
});

test('the failure of a program on the host is not one of ssh', () => {
  expect(explainSsh('gpu', host, { code: 1, stderr: 'Permission denied' })).toBeUndefined();
});

test('a configuration file below the home directory is found, and quoted in hints', () => {
  const home = '/home/ann b';
  const far = toSshHost('gpu1', '~/.ssh/agents', { HOME: home });
  expect(toSshArgv('gpu', far, ['true'])).toEqual(expect.arrayContaining(['-F', `${home}/.ssh/agents`]));
  const error = explainSsh('gpu', far, { code: 255, stderr: 'Connection refused' });
  expect(error?.hint).toContain("ssh -F '/home/ann b/.ssh/agents' -v gpu1");
  expect(toSshHost('gpu1', '/c', {})).toEqual({ host: 'gpu1', config: '/c' });
});
