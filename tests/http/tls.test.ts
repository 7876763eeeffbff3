import { execFileSync } from 'node:child_process';
import { on, once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { type RequestOptions, request } from 'node:https';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { serve, type TestServer } from '../support/http.ts';
import { createPlace, runInProcess } from '../support/nacre.ts';
import { sendBytes } from '../support/raw-http.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** Creates a certificate for this machine, valid for a day, and its key. */
function makeCertificate(folder: string, name: string) {
  const paths = { cert: join(folder, `${name}.pem`), key: join(folder, `${name}.key`) };
  const names = 'subjectAltName=DNS:localhost,DNS:idle.localhost,IP:127.0.0.1';
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '1'];
  const files = ['-keyout', paths.key, '-out', paths.cert];
  const more = ['-subj', '/CN=localhost', '-addext', names];
  execFileSync('openssl', ['req', '-x509', ...curve, ...files, ...more], { stdio: 'ignore' });
  return paths;
}

const folder = temporaryFolder();
const own = makeCertificate(folder, 'own');
const other = makeCertificate(folder, 'other');
const ca = readFileSync(own.cert);
let here: TestServer;

beforeAll(async () => {
  const args = ['--tls-cert', own.cert, '--tls-key', own.key, '--applets-dir', 'applets'];
  here = await serve({ args: [...args, '--host', '0.0.0.0'] });
  mkdirSync(join(here.cwd, 'applets', 'idle'), { recursive: true });
  writeFileSync(join(here.cwd, 'applets', 'idle', 'applet.json'), '{"slug":"idle"}');
  writeFileSync(join(here.cwd, 'applets', 'idle', 'index.html'), 'an applet');
});
afterAll(async () => expect(await here.close()).toEqual([]));

async function send(path: string, options: RequestOptions = {}, body = '') {
  const sent = request({ host: '127.0.0.1', port: here.port, path, ca, ...options });
  sent.end(body);
  const [answer] = await once(sent, 'response');
  const chunks: Buffer[] = [];
  for await (const chunk of answer) chunks.push(chunk);
  return { status: answer.statusCode, headers: answer.headers, text: Buffer.concat(chunks).toString() };
}

describe('H10: over TLS', () => {
  test('commands run on a public address, with a token', async () => {
    expect(here.address).toBe(`https://localhost:${here.port}`);
    const body = JSON.stringify({ command: 'git', args: ['--version'] });
    const headers = { ...here.bearer, 'Content-Type': 'application/json' };
    expect(await send('/api/shell', { method: 'POST', headers }, body)).toMatchObject({
      status: 200,
      text: expect.stringContaining('git version'),
    });
    expect((await send('/api/now')).status).toBe(401);
  });

  test('a link sets a cookie with Secure', async () => {
    const { pathname, search, host } = new URL(here.link);
    const headers = { Host: host, 'Content-Type': 'application/x-www-form-urlencoded' };
    const opened = await send(pathname, { method: 'POST', headers }, search.slice(1));
    const [cookie = ''] = opened.headers['set-cookie'] ?? [];
    expect(cookie).toMatch(/; HttpOnly; SameSite=Strict; Secure$/);
    const page = { Host: host, Cookie: cookie.split(';')[0] ?? '' };
    const state = (Origin: string) => send('/api/now', { headers: { ...page, Origin } });
    expect((await state(here.address)).status).toBe(200);
    expect((await state(here.address.replace('https', 'http'))).status).toBe(403);
  });

  test('commands are streamed', async () => {
    const socket = new WebSocket(`wss://localhost:${here.port}/api/shell/stream`, {
      ca,
      headers: here.bearer,
    });
    await once(socket, 'open');
    socket.send(JSON.stringify({ type: 'shell.run', id: 'a', command: 'git', args: ['--version'] }));
    const types: string[] = [];
    for await (const [data] of onMessages(socket)) {
      types.push(JSON.parse(String(data)).type);
      if (types.includes('shell.exit')) break;
    }
    expect(types).toEqual(['shell.start', 'shell.stdout', 'shell.exit']);
    socket.terminate();
  });

  test('an applet has its own origin', async () => {
    const reply = await send('/', { headers: { Host: `idle.localhost:${here.port}` } });
    expect(reply).toMatchObject({ status: 200, text: 'an applet' });
  });

  test('plain HTTP is refused, and an offer of HTTP/2 is ignored', async () => {
    expect((await sendBytes(here.port, 'GET / HTTP/1.1\r\n\r\n')).text).not.toContain('200');
    const socket = connectTls({ host: '127.0.0.1', port: here.port, ca });
    await once(socket, 'secureConnect');
    socket.write(
      `GET /healthz HTTP/1.1\r\nHost: localhost:${here.port}\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n`,
    );
    expect(String((await once(socket, 'data'))[0])).toMatch(/^HTTP\/1\.1 200 OK/);
    socket.destroy();
  });
});

function onMessages(socket: WebSocket): AsyncIterable<[unknown]> {
  return on(socket, 'message') as AsyncIterable<[unknown]>;
}

describe('H10: files that are not a certificate and its key', () => {
  const junk = join(folder, 'junk');
  writeFileSync(junk, 'junk');
  test.each([
    ['an invalid certificate', junk, own.key],
    ['an invalid key', own.cert, junk],
    ['the key of another certificate', own.cert, other.key],
  ])('%s prevents the start, and the error names the files', async (_, cert, key) => {
    const args = ['serve', '--port', '0', '--tls-cert', cert, '--tls-key', key];
    const { code, stderr } = await runInProcess(args, createPlace());
    expect(code).toBe(125);
    expect(stderr).toContain(`${cert} and ${key} are not a certificate and its key`);
    expect(stderr).not.toContain('Internal');
  });
});
