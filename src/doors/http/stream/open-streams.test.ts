import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createTestEngine, type TestEngine } from '../../../../tests/support/engine.ts';
import { openSocket } from '../../../../tests/support/socket.ts';
import { sleep } from '../../../support/timing.ts';
import { openStreams, type StreamTimes } from './open-streams.ts';

const rules = {
  rules: { allow: { kind: 'all' }, allowSetting: 'SHELL_ALLOWLIST', danger: 'block' },
  cwdRoots: [],
} as const;
const caller = { client: 'tester', owner: 'me', rules, terminal: { shells: [], rules }, tools: [] };
let here: TestEngine;
let server: Server;

beforeEach(() => {
  here = createTestEngine();
  server = createServer();
});
afterEach(async () => {
  server.closeAllConnections();
  server.close();
  await here.close();
});

async function listen(times: StreamTimes) {
  const streams = openStreams(
    {
      engine: async () => here.engine,
      refresh: async () => {},
      isClosing: () => false,
      log: () => {},
    },
    () => caller,
    times,
  );
  streams.attach(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { streams, port: (server.address() as AddressInfo).port };
}

test('H7: a command that no client resumes is ended', async () => {
  const { streams, port } = await listen({ expiryMs: 50 });
  const socket = await openSocket(`http://127.0.0.1:${port}`, {});
  socket.send({ type: 'shell.run', id: 'a', command: 'sleep', args: ['100'] });
  const { command_id } = await socket.until(({ type }) => type === 'shell.start');
  await socket.close();
  const look = () =>
    here.engine.observe(String(command_id), { caller: { door: 'http', client: 'x' }, owner: 'me' });
  for (let tries = 0; tries < 500 && !(await look()).state.end; tries += 1) await sleep(10);
  expect((await look()).state.end).toMatchObject({ cause: 'stopped' });
  await streams.close();
});

test('H7: a socket that does not reply to pings is terminated, and one that does stays open', async () => {
  const { streams, port } = await listen({ pingMs: 50 });
  const alive = await openSocket(`http://127.0.0.1:${port}`, {});
  const mute = connect(port, '127.0.0.1');
  mute.write(
    'GET /api/shell/stream HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n' +
      'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
  );
  mute.resume();
  await once(mute, 'close');
  await sleep(200);
  expect(alive.socket.readyState).toBe(alive.socket.OPEN);
  await alive.close();
  await streams.close();
});
