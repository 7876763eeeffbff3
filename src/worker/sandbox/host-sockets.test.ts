import { chmodSync, chownSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findHostSockets, toListening } from './host-sockets.ts';

test('only sockets that can be connected or sent to by path are listed, each once', () => {
  const table = `Num       RefCount Protocol Flags    Type St Inode Path
0000000000000000: 00000002 00000000 00010000 0001 01 20001 /var/lib/app/with space.sock
0000000000000000: 00000002 00000000 00010000 0001 01    12 /var/lib/app/with space.sock
0000000000000000: 00000003 00000000 00000000 0001 03 20002 /var/lib/app/connected.sock
0000000000000000: 00000002 00000000 00000000 0002 01 20003 /var/lib/app/datagrams.sock
0000000000000000: 00000002 00000000 00010000 0005 01 20004 /var/lib/app/packets.sock
0000000000000000: 00000002 00000000 00010000 0001 01 20005 @abstract
0000000000000000: 00000002 00000000 00010000 0001 01 20006 relative.sock
0000000000000000: 00000003 00000000 00000000 0001 03 20007
`;
  expect(toListening(table)).toEqual([
    '/var/lib/app/with space.sock',
    '/var/lib/app/datagrams.sock',
    '/var/lib/app/packets.sock',
  ]);
});

test('a socket that root in a sandbox could neither cover nor reach is left out', async () => {
  const folder = realpathSync(mkdtempSync('/var/tmp/nacre-test-'));
  const server = createServer().listen(join(folder, 's'));
  await new Promise((resolve) => server.once('listening', resolve));
  const found = () => findHostSockets().includes(join(folder, 's'));
  expect(found()).toBe(true);
  const isRoot = process.getuid?.() === 0;
  if (isRoot) chownSync(folder, 65_534, 65_534);
  expect(found()).toBe(!isRoot);
  chmodSync(folder, 0o711);
  expect(found()).toBe(true);
  await new Promise((resolve) => server.close(resolve));
  rmSync(folder, { recursive: true });
});

test('a socket is listed by its canonical path, unless a sandbox replaces that folder anyway', async () => {
  const folder = realpathSync(mkdtempSync('/var/tmp/nacre-test-'));
  const hidden = realpathSync(mkdtempSync('/tmp/nacre-test-'));
  mkdirSync(join(folder, 'real'));
  symlinkSync('real', join(folder, 'link'));
  const servers = [join(folder, 'link', 's'), join(hidden, 's'), join(folder, 'gone')].map((path) =>
    createServer().listen(path),
  );
  await Promise.all(servers.map((server) => new Promise((resolve) => server.once('listening', resolve))));
  rmSync(join(folder, 'gone'));
  const ours = findHostSockets().filter((path) => path.startsWith(folder) || path.startsWith(hidden));
  expect(ours).toEqual([join(folder, 'real', 's')]);
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  for (const path of [folder, hidden]) rmSync(path, { recursive: true });
});
