// The road into containers over a stand-in for the API of an engine.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { temporaryFolder } from '../../../tests/support/temporary-folder.ts';
import type { ContainerRoad } from '../../contract/machine.ts';
import { createContainerMachine } from './container.ts';

type Reply = (request: IncomingMessage, answer: ServerResponse) => void;

const openMachine = async (reply: Reply, more: Partial<ContainerRoad> = {}) => {
  const folder = temporaryFolder();
  const socket = join(folder, 'engine.sock');
  const seen: string[] = [];
  const server = createServer((request, answer) => {
    seen.push(`${request.method} ${request.url}`);
    reply(request, answer);
  });
  await new Promise<void>((resolve) => server.listen(socket, resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const road: ContainerRoad = {
    ...{ kind: 'docker', host: socket, image: 'node:22', pull: 'missing', network: 'none', mount: 'none' },
    ...{ mounts: [], env: {}, isReadOnly: false, ...more },
  };
  const deps = { program: '/dist/worker.js', build: 'test', environment: { HOME: '/home/me' }, cwd: folder };
  return { machine: createContainerMachine('box', road, deps), seen };
};

const notFound: Reply = (_, answer) => void answer.writeHead(404).end('{"message":"No such image: node:22"}');

test('an image that is missing is pulled with its tag, and the reason of a failure is shown', async () => {
  const { machine, seen } = await openMachine((request, answer) => {
    if (!request.url?.startsWith('/images/create')) return notFound(request, answer);
    answer.write('{"status":"Pulling"}\n{"sta');
    answer.end('tus":"Waiting"}\n{"error":"unauthorized"}\n');
  });
  await expect(machine.run(['sh'])).rejects.toMatchObject({
    message: 'The machine box cannot be used: its image node:22 could not be pulled: unauthorized.',
    hint: 'Try it yourself, which uses your credentials: docker pull node:22',
  });
  expect(seen).toContain('POST /images/create?fromImage=node&tag=22');
});

test('without a pull, a missing image is an error with the command that pulls it', async () => {
  const { machine, seen } = await openMachine(notFound, { pull: 'never' });
  await expect(machine.run(['sh'])).rejects.toThrow('docker has no image node:22');
  expect(seen.filter((one) => one.startsWith('POST /images'))).toEqual([]);
});

test('a slow pull continues while calls report it', { timeout: 60_000 }, async () => {
  const { machine, seen } = await openMachine((request, answer) => {
    if (request.url?.startsWith('/images/create')) answer.write('{"status":"Pulling"}\n');
    else notFound(request, answer);
  });
  await expect(machine.run(['sh'])).rejects.toThrow('its image node:22 is still being pulled');
  expect(seen.filter((one) => one.startsWith('POST /images'))).toHaveLength(1);
});

test('other errors are shown with the message of the engine', async () => {
  const { machine } = await openMachine((request, answer) => {
    if (request.method === 'GET') answer.end('{}');
    else answer.writeHead(400).end('{"message":"bind source path does not exist: /data"}');
  });
  await expect(machine.run(['sh'])).rejects.toThrow('docker says: bind source path does not exist: /data');
});

test('the error for an engine that is not running names its socket', async () => {
  const road: ContainerRoad = {
    ...{ kind: 'podman', host: '/run/no/such.sock', image: 'a', pull: 'missing', network: 'none' },
    ...{ mount: 'none', mounts: [], env: {}, isReadOnly: false },
  };
  const deps = { program: '/dist/worker.js', build: 'test', environment: {}, cwd: '/' };
  const machine = createContainerMachine('box', road, deps);
  await expect(machine.run(['sh'])).rejects.toThrow('no engine listens on /run/no/such.sock');
});
