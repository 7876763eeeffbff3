import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { createDeferred } from '../../../support/timing.ts';
import { createIntake, type Intake } from './intake.ts';

let server: WebSocketServer;
let client: WebSocket;
let socket: WebSocket;
let intake: Intake;

beforeEach(async () => {
  server = new WebSocketServer({ port: 0, host: '127.0.0.1', autoPong: false });
  await once(server, 'listening');
  client = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`);
  [[socket]] = (await Promise.all([once(server, 'connection'), once(client, 'open')])) as [
    [WebSocket],
    unknown,
  ];
  intake = createIntake(socket);
});
afterEach(() => {
  client.terminate();
  socket.terminate();
  server.close();
});

test('H7: a socket is paused while too many bytes are being handled', async () => {
  const [first, second] = [createDeferred<void>(), createDeferred<void>()];
  intake.hold(600_000, first.promise);
  expect(socket.isPaused).toBe(false);
  intake.hold(600_000, second.promise);
  expect(socket.isPaused).toBe(true);
  first.resolve();
  await expect.poll(() => socket.isPaused).toBe(false);
  second.resolve();
});

test('H7: the number of small messages being handled is bounded', () => {
  for (let count = 0; count < 2_000; count += 1) intake.hold(1, new Promise(() => {}));
  expect(socket.isPaused).toBe(true);
});

test('H7: a failed message counts as handled', async () => {
  intake.hold(2_000_000, Promise.reject(new Error('no')));
  await expect.poll(() => socket.isPaused).toBe(false);
});

test('H7: pings get a pong, but not without limit if the client does not read', async () => {
  client.ping('are you there');
  expect(String((await once(client, 'pong'))[0])).toBe('are you there');
  client.pause();
  const more = setInterval(() => {
    for (let count = 0; count < 5_000; count += 1) client.ping('x'.repeat(120));
  }, 1);
  await expect.poll(() => socket.isPaused, { timeout: 15_000 }).toBe(true);
  clearInterval(more);
  expect(socket.bufferedAmount).toBeLessThan(4_000_000);
});
