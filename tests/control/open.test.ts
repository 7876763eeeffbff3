import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { serve, type TestServer, takeLink } from '../support/http.ts';
import { createPlace, type Place, runInProcess, sleep } from '../support/nacre.ts';

let server: TestServer;
beforeAll(async () => {
  server = await serve({ args: ['--preset', 'read-only'] });
  await isReachable(server);
});
afterAll(async () => {
  expect(await server.close()).toEqual([]);
});

const open = (place: Place, ...words: string[]) => runInProcess(['open', ...words], place);
// The control socket is opened after the warm-up.
const isReachable = async ({ stderr }: TestServer) => {
  for (let tries = 0; tries < 1_000 && !stderr().includes('ready:'); tries += 1) await sleep(10);
};

test('nacre open --print prints a link that signs a browser in, once', async () => {
  const { code, stdout, stderr } = await open(server, '--print');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(new RegExp(`^${server.address}/open\\?ticket=\\S+\\n$`));
  const first = await takeLink(server.address, stdout.trim());
  expect(first.status).toBe(200);
  expect(first.headers.get('set-cookie')).toContain('HttpOnly');
  const again = await fetch(stdout.trim());
  expect(again.status).toBe(401);
  expect(await again.text()).toContain('nacre open makes a new one');
  expect((await open(server, '--print')).stdout).not.toBe(stdout);
});

test('nacre open starts the browser in $BROWSER, and prints the address without the ticket', async () => {
  const [browser, seen] = [join(server.cwd, 'browser'), join(server.cwd, 'seen')];
  writeFileSync(browser, `#!/bin/sh\nprintf %s "$1" > "${seen}"\n`);
  chmodSync(browser, 0o755);
  const place = { cwd: server.cwd, env: { ...server.env, BROWSER: browser } };
  expect(await open(place)).toEqual({
    code: 0,
    stdout: `Opened ${server.address} in a browser.\n`,
    stderr: '',
  });
  expect((await fetch(readFileSync(seen, 'utf8'))).status).toBe(200);
});

test('without a browser, nacre open prints the link', async () => {
  const { code, stdout, stderr } = await open(server);
  expect({ code, stderr }).toMatchObject({ code: 0, stderr: expect.stringContaining('no browser') });
  expect((await fetch(stdout.trim())).status).toBe(200);
});

test('of several servers, the one with the given address, host and port, or port is opened', async () => {
  const other = await serve({ env: { XDG_STATE_HOME: join(server.cwd, '.local', 'state') } });
  try {
    await isReachable(other);
    const { code, stderr } = await open(server, '--print');
    expect(code).toBe(125);
    expect(stderr).toContain('2 servers are running');
    expect(stderr).toContain(other.address);
    for (const name of [other.address, `${other.address}/`, `127.0.0.1:${other.port}`, String(other.port)])
      expect((await open(server, name, '--print')).stdout).toContain(`${other.address}/open?`);
    expect((await open(server, '1')).stderr).toContain('No server is running on 1, only on');
    expect((await open(server, '1', '2')).stderr).toContain('one address');
  } finally {
    expect(await other.close()).toEqual([]);
  }
});

test('without a server, nacre open says how to start one', async () => {
  const { code, stdout, stderr } = await open(createPlace(), '--print');
  expect({ code, stdout }).toEqual({ code: 125, stdout: '' });
  expect(stderr).toBe(
    'nacre: No server that nacre serve started is running.\nnacre: Start one with nacre serve.\n',
  );
});

test('nacre open --viewer makes a link to a read-only page', async () => {
  const { stdout } = await open(server, '--print', '--viewer');
  const signedIn = await takeLink(server.address, stdout.trim());
  const headers = { Cookie: signedIn.headers.get('set-cookie')?.split(';')[0] ?? '', Origin: server.address };
  expect((await server.send('/api/now', { headers })).body.page).toMatchObject({ role: 'viewer' });
  expect((await server.send('/api/pause', { method: 'POST', headers })).status).toBe(403);
});
