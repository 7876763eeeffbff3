// Machines that swallow every byte, such as machines that are off.
import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { builtCli } from '../support/build.ts';
import { createPlace, endOf, sleep } from '../support/nacre.ts';
import { isInstalled } from '../support/program-needs.ts';

const missing = ['unshare', 'ip', 'ssh'].find((program) => !isInstalled(program));
const reason =
  process.getuid?.() === 0 ? missing && `${missing} is missing` : 'only root can create networks';

// A network in which nothing answers the packets to 192.0.2.9.
const network = [
  'ip link add v0 type veth peer name v1 && ip link set v0 up && ip link set v1 up',
  'ip addr add 192.0.2.1/24 dev v0 && ip neigh add 192.0.2.9 lladdr 02:00:00:00:00:09 dev v0 nud permanent',
  'exec "$@"',
].join(' && ');

const kubeconfig = `
current-context: off
clusters: [{ name: off, cluster: { server: 'https://192.0.2.9:6443' } }]
users: [{ name: off, user: { token: x } }]
contexts: [{ name: off, context: { cluster: off, user: off } }]
`;

const begin = () => {
  const place = createPlace();
  const engine = join(place.cwd, 'engine.sock');
  const sockets = new Set<Socket>();
  const server = createServer((socket) => void sockets.add(socket)).listen(engine);
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  mkdirSync(join(place.cwd, '.config/nacre'), { recursive: true });
  writeFileSync(join(place.cwd, 'kubeconfig'), kubeconfig);
  const machines = [
    'far: { ssh: 192.0.2.9 }',
    `box: { docker: { host: 'unix://${engine}', image: x, mount: none } }`,
    `mine: { podman: { host: 'unix://${engine}', container: x } }`,
    'lab: { kubernetes: { image: x, kubeconfig: ~/kubeconfig } }',
  ];
  const settings = `allowed_commands: ['*']\nmachines:\n${machines.map((line) => `  ${line}\n`).join('')}`;
  writeFileSync(join(place.cwd, '.config/nacre/config.yaml'), settings);
  return (on: string) => {
    const words = ['--net', 'bash', '-c', network, 'bash', process.execPath, builtCli];
    return endOf(spawn('unshare', [...words, 'run', '--on', on, 'echo hi'], place));
  };
};

const errors = {
  far: 'it does not answer; it may be off',
  box: 'docker does not answer at',
  mine: 'podman does not answer at',
  lab: 'the cluster at 192.0.2.9:6443 cannot be reached',
};

test.skipIf(reason !== undefined)('each of them is an error within 10 s', async () => {
  const run = begin();
  const isLate = sleep(11_000).then(() => 'late');
  const ended = Object.keys(errors).map(async (on) => [on, await Promise.race([run(on), isLate])]);
  expect(Object.fromEntries(await Promise.all(ended))).toMatchObject(
    Object.fromEntries(
      Object.entries(errors).map(([on, text]) => [on, { code: 125, stderr: expect.stringContaining(text) }]),
    ),
  );
});
