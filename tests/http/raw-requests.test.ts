import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { rawRequest, serve, type TestServer } from '../support/http.ts';
import { sleep } from '../support/nacre.ts';
import { processesWith } from '../support/processes.ts';
import { sendBytes } from '../support/raw-http.ts';

let here: TestServer;
beforeAll(async () => {
  here = await serve({ env: { SHELL_ALLOWLIST: '*' } });
});
afterAll(async () => {
  expect(here.stderr()).not.toContain('internal failure');
  expect(await here.close()).toEqual([]);
});

const own = () => `Host: 127.0.0.1:${here.port}`;
const toText = (first: string, headers: readonly string[], body = '') =>
  [first, ...headers, '', body].join('\r\n');
const post = (body: string, more: readonly string[] = []) =>
  toText(
    'POST /api/shell HTTP/1.1',
    [
      own(),
      `Authorization: Bearer ${here.token}`,
      'Content-Type: application/json',
      ...(more.length > 0 ? more : [`Content-Length: ${body.length}`]),
    ],
    body,
  );
const errorOf = (text: string) => JSON.parse(text.slice(text.indexOf('{'))).error;

describe('H2, H10: every refusal has a sentence, whatever is wrong with the bytes', () => {
  test.each([
    ['no Host', () => toText('GET /healthz HTTP/1.1', []), 400],
    ['no Host of HTTP/1.0', () => toText('GET /healthz HTTP/1.0', []), 400],
    ['two Hosts', () => toText('GET /healthz HTTP/1.1', [own(), 'Host: evil.example']), 403],
    ['a Host with a user', () => toText('GET /healthz HTTP/1.1', [`Host: a@127.0.0.1:${here.port}`]), 400],
    ['a Host with a dot behind', () => toText('GET / HTTP/1.1', [`Host: localhost.:${here.port}`]), 403],
    ['a Host in another form', () => toText('GET / HTTP/1.1', [`Host: 127.1:${here.port}`]), 403],
    ['a target of another host', () => toText('GET http://evil.example/healthz HTTP/1.1', [own()]), 403],
    ['a foreign Host where nothing is', () => toText('GET /api/x HTTP/1.1', ['Host: evil.example']), 403],
    ['two Origins', () => toText('GET / HTTP/1.1', [own(), `Origin: ${here.address}`, 'Origin: null']), 403],
    ['two lengths', () => post('{}', ['Content-Length: 2', 'Content-Length: 3']), 400],
    [
      'a length and chunks',
      () => post('0\r\n\r\n', ['Content-Length: 5', 'Transfer-Encoding: chunked']),
      400,
    ],
    ['chunks that are none', () => post('zz\r\n{}\r\n', ['Transfer-Encoding: chunked']), 400],
    ['too many headers', () => toText('GET / HTTP/1.1', [own(), `X: ${'x'.repeat(20_000)}`]), 431],
    ['no HTTP at all', () => 'hello\r\n\r\n', 400],
    ['an old version of WebSockets', () => upgrade(['Sec-WebSocket-Version: 7']), 400],
    ['WebSockets with two Hosts', () => upgrade(['Sec-WebSocket-Version: 13', 'Host: evil.example']), 403],
  ])('%s', async (_, bytes, expected) => {
    const { status, text } = await sendBytes(here.port, bytes(), { isOver: (seen) => seen.includes('}') });
    expect([status, errorOf(text)]).toEqual([expected, expect.stringMatching(/^[A-Z].*\.$/)]);
  });

  test.each(['/applets/a%0d%0aX:b', '/applets/a%00b', '/applets/%zz', '/applets/%2f%2fevil.example'])(
    'GET %s is no failure of ours',
    async (path) => {
      const { status, text } = await sendBytes(
        here.port,
        toText(`GET ${path} HTTP/1.1`, [own(), 'Connection: close']),
      );
      expect(status).toBe(302);
      expect(text).toMatch(/location: \/applets\/[\w%.]+\/\r\n/i);
      expect(text).not.toMatch(/^X:/m);
    },
  );

  test('a request that never comes to its end is told so', { timeout: 90_000 }, async () => {
    const begun = toText('GET /healthz HTTP/1.1', [own()]).trim();
    const { status, text } = await sendBytes(here.port, begun, { patienceMs: 60_000 });
    expect([status, errorOf(text)]).toEqual([408, expect.stringMatching(/did not arrive whole/)]);
  });

  test('a body that is cut off is no failure of ours', async () => {
    await sendBytes(here.port, post('{', ['Content-Length: 50']), { patienceMs: 100 });
    await sendBytes(here.port, post('5\r\n{', ['Transfer-Encoding: chunked']), { patienceMs: 100 });
    expect((await here.shell('true')).status).toBe(200);
  });

  test('what comes behind a request that runs does not get into its answer', async () => {
    const body = JSON.stringify({ command: 'sh', args: ['-c', 'sleep 100 # behind'] });
    const { text } = await sendBytes(here.port, `${post(body)}\0\0garbage\r\n\r\n`);
    expect(text).toMatch(/^(?:$|HTTP\/1\.1 400 )/);
    for (let tries = 0; tries < 500 && processesWith('# behind').length > 0; tries += 1) await sleep(10);
    expect(processesWith('# behind')).toEqual([]);
  });
});

const upgrade = (more: readonly string[]) =>
  toText('GET /api/shell/stream HTTP/1.1', [
    own(),
    `Authorization: Bearer ${here.token}`,
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    ...more,
  ]);

describe('H10: a target that names its host', () => {
  const ask = async (target: string, headers: readonly string[]) => {
    const text = toText(`GET ${target} HTTP/1.1`, [...headers, 'Connection: close']);
    return (await sendBytes(here.port, text)).status;
  };

  test('is for that one, whatever the Host says, and calls say 401 before 403', async () => {
    const token = `Authorization: Bearer ${here.token}`;
    expect(await ask(`http://127.0.0.1:${here.port}/healthz`, ['Host: evil.example'])).toBe(200);
    expect(await ask(`http://127.0.0.1:${here.port}`, [own()])).toBe(200);
    expect(await ask('http://evil.example/api/state', [own()])).toBe(401);
    expect(await ask('http://evil.example/api/state', [own(), token])).toBe(403);
    expect(await ask(`http://127.0.0.1:${here.port}/api/state`, [own(), token])).toBe(200);
  });
});

describe('H1: requests that offer HTTP/2', () => {
  const offer = ['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAAQAAP__'];

  test('are answered in HTTP/1.1, bodies included, and so are those behind them', async () => {
    const body = JSON.stringify({ command: 'echo', args: ['hello'] });
    const first = post(body, [`Content-Length: ${body.length}`, ...offer]);
    const { text } = await sendBytes(here.port, `${first}${toText('GET /healthz HTTP/1.1', [own()])}`, {
      isOver: (seen) => seen.includes('"status":"ok"'),
    });
    expect(text).toMatch(/"stdout":"hello\\n".*"status":"ok"/s);
  });

  test('have to show a token all the same', async () => {
    const request = toText('GET /metrics HTTP/1.1', [own(), ...offer]);
    expect((await sendBytes(here.port, request, { isOver: () => true })).status).toBe(401);
  });
});

describe('H2: the caller’s disconnect ends the command', () => {
  test('also of the requests behind the first', async () => {
    const script = (index: number) =>
      post(JSON.stringify({ command: 'sh', args: ['-c', `sleep 100; # pipelined ${index}`] }));
    const socket = connect(here.port, '127.0.0.1');
    socket.write([1, 2, 3].map(script).join(''));
    const running = () => processesWith('# pipelined').length;
    try {
      for (let tries = 0; tries < 1_500 && running() < 3; tries += 1) await sleep(10);
      expect(running()).toBeGreaterThanOrEqual(3);
    } finally {
      socket.destroy();
    }
    for (let tries = 0; tries < 1_500 && running() > 0; tries += 1) await sleep(10);
    expect(running()).toBe(0);
  });
});

describe('H10: a one-time link', () => {
  const look = (method: string, link: string) => fetch(link, { method });

  test('is not used up by whoever only looks where it leads', async () => {
    expect((await look('HEAD', here.link)).status).toBe(405);
    expect((await look('GET', here.link)).status).toBe(200);
  });

  test('opens once, however many come at the same time', async () => {
    const { body } = await here.post('/api/link', {});
    const opened = await Promise.all(Array.from({ length: 8 }, () => look('GET', String(body.link))));
    expect(opened.map(({ status }) => status).sort()).toEqual([200, ...Array(7).fill(401)]);
  });

  test('leads to the name by which the server was asked for it', async () => {
    const headers = { ...here.bearer, Host: `localhost:${here.port}` };
    const { body } = await rawRequest(here.address, '/api/link', { method: 'POST', headers });
    expect(body.link).toMatch(new RegExp(`^http://localhost:${here.port}/open\\?ticket=`));
  });
});
