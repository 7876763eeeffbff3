// Processes that connect to the socket of the worker without being nacre.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { magic } from '../../src/contract/wire.ts';
import { createOutliveHome, type OutliveHome } from '../support/outlive.ts';

const patient = { timeout: 60_000, interval: 100 };

async function openSocket(home: OutliveHome): Promise<Socket> {
  const [worker] = home.workers();
  if (!worker) throw new Error('There is no worker.');
  const socket = connect(join(worker.folder, 'socket'));
  socket.on('error', () => {});
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  return socket;
}

const frame = (length: number, kind: number, json: string) => {
  const head = Buffer.alloc(13);
  head.writeUInt32BE(length, 0);
  head.writeUInt8(kind, 4);
  head.writeUInt32BE(1, 5);
  head.writeUInt32BE(Buffer.byteLength(json), 9);
  return Buffer.concat([head, Buffer.from(json)]);
};
const begin = Buffer.from(magic, 'latin1');
const call = (json: string) => Buffer.concat([begin, frame(9 + json.length, 1, json)]);

test('malformed data on its socket harms neither the worker nor its commands', {
  timeout: 180_000,
}, async () => {
  const home = createOutliveHome();
  const client = await home.open();
  await client.call('start_command', { command: 'sleep 7200', name: 'kept' });
  const nonsense = [
    Buffer.from('GET / HTTP/1.1\r\n\r\n'),
    Buffer.concat([begin, frame(0xffff_ffff, 1, '')]),
    Buffer.concat([begin, frame(9, 77, '')]),
    call('{"m":"start","w":["kept"'),
    call('null'),
    call('{"m":"constructor","w":[]}'),
    call('{"m":"shutdown","w":[]}'),
    call('{"m":"hello","w":[null]}'),
    call('{"m":"hello","w":[{"link":"x","resume":{"__proto__":1}}]}'),
  ];
  for (const data of nonsense) (await openSocket(home)).write(data);
  expect(await client.call('list_commands', {})).toMatch(/"kept".*running/);
  expect(await client.call('start_command', { command: 'echo next', wait_ms: 20_000 })).toContain('next');
  expect(home.workers()).toHaveLength(1);
  await client.leave();
});

test('a silent connection does not keep the worker from ending', {
  timeout: 120_000,
}, async () => {
  const home = createOutliveHome();
  const client = await home.open();
  await client.call('start_command', { command: 'true', name: 'short' });
  await openSocket(home);
  await client.leave();
  await expect.poll(() => home.workers(), patient).toEqual([]);
});
