import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { rawRequest, serve, type TestServer, takeLink } from '../support/http.ts';
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

describe('H2, H10: every malformed request gets a status and a sentence', () => {
  test.each([
    ['no Host', () => toText('GET /healthz HTTP/1.1', []), 400],
    ['no Host in HTTP/1.0', () => toText('GET /healthz HTTP/1.0', []), 400],
    ['two Hosts', () => toText('GET /healthz HTTP/1.1', [own(), 'Host: evil.example']), 403],
    ['a Host with a user', () => toText('GET /healthz HTTP/1.1', [`Host: a@127.0.0.1:${here.port}`]), 400],
    ['a Host with a trailing dot', () => toText('GET / HTTP/1.1', [`Host: localhost.:${here.port}`]), 403],
    ['a short form of the Host', () => toText('GET / HTTP/1.1', [`Host: 127.1:${here.port}`]), 403],
    ['a target of another host', () => toText('GET http://evil.example/healthz HTTP/1.1', [own()]), 403],
    ['a foreign Host and an unknown path', () => toText('GET /api/x HTTP/1.1', ['Host: evil.example']), 403],
    ['two Origins', () => toText('GET / HTTP/1.1', [own(), `Origin: ${here.address}`, 'Origin: null']), 403],
    ['two Content-Lengths', () => post('{}', ['Content-Length: 2', 'Content-Length: 3']), 400],
    [
      'a Content-Length and chunks',
      () => post('0\r\n\r\n', ['Content-Length: 5', 'Transfer-Encoding: chunked']),
      400,
    ],
    ['malformed chunks', () => post('zz\r\n{}\r\n', ['Transfer-Encoding: chunked']), 400],
    ['headers that are too long', () => toText('GET / HTTP/1.1', [own(), `X: ${'x'.repeat(20_000)}`]), 431],
    ['bytes that are not HTTP', () => 'hello\r\n\r\n', 400],
    ['an old WebSocket version', () => upgrade(['Sec-WebSocket-Version: 7']), 400],
    ['a WebSocket with two Hosts', () => upgrade(['Sec-WebSocket-Version: 13', 'Host: evil.example']), 403],
  ])('%s', async (_, bytes, expected) => {
    const { status, text } = await sendBytes(here.port, bytes(), {
      isComplete: (seen) => seen.includes('}'),
    });
    expect([status, errorOf(text)]).toEqual([expected, expect.stringMatching(/^[A-Z].*\.$/)]);
  });

  test.each(['/applets/a%0d%0aX:b', '/applets/a%00b', '/applets/%zz', '/applets/%2f%2fevil.example'])(
    'GET %s is not an internal failure',
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

  test('a truncated body is not an internal failure', async () => {
    await sendBytes(here.port, post('{', ['Content-Length: 50']), { idleMs: 100 });
    await sendBytes(here.port, post('5\r\n{', ['Transfer-Encoding: chunked']), { idleMs: 100 });
    expect((await here.shell('true')).status).toBe(200);
  });

  test('garbage after a running request does not get into its reply', async () => {
    const body = JSON.stringify({ command: 'sh', args: ['-c', 'sleep 100 # behind'] });
    const { text } = await sendBytes(here.port, `${post(body)}\0\0garbage\r\n\r\n`);
    expect(text).toMatch(/^(?:$|HTTP\/1\.1 400 )/);
    // A command that was admitted before the garbage arrived may only just be starting.
    expect((await here.shell('true')).status).toBe(200);
    await expect.poll(() => processesWith('# behind'), { timeout: 10_000 }).toEqual([]);
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

describe('H10: an absolute target', () => {
  const ask = async (target: string, headers: readonly string[]) => {
    const text = toText(`GET ${target} HTTP/1.1`, [...headers, 'Connection: close']);
    return (await sendBytes(here.port, text)).status;
  };

  test('overrides the Host header, and calls report 401 before 403', async () => {
    const token = `Authorization: Bearer ${here.token}`;
    expect(await ask(`http://127.0.0.1:${here.port}/healthz`, ['Host: evil.example'])).toBe(200);
    expect(await ask(`http://127.0.0.1:${here.port}`, [own()])).toBe(200);
    expect(await ask('http://evil.example/api/now', [own()])).toBe(401);
    expect(await ask('http://evil.example/api/now', [own(), token])).toBe(403);
    expect(await ask(`http://127.0.0.1:${here.port}/api/now`, [own(), token])).toBe(200);
  });
});

describe('H1: requests that offer an upgrade to HTTP/2', () => {
  const offer = ['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAAQAAP__'];

  test('are served over HTTP/1.1, with their bodies, and so are the requests after them', async () => {
    const body = JSON.stringify({ command: 'echo', args: ['hello'] });
    const first = post(body, [`Content-Length: ${body.length}`, ...offer]);
    const { text } = await sendBytes(here.port, `${first}${toText('GET /healthz HTTP/1.1', [own()])}`, {
      isComplete: (seen) => seen.includes('"status":"ok"'),
    });
    expect(text).toMatch(/"stdout":"hello\\n".*"status":"ok"/s);
  });

  test('still require a token', async () => {
    const request = toText('GET /metrics HTTP/1.1', [own(), ...offer]);
    expect((await sendBytes(here.port, request, { isComplete: () => true })).status).toBe(401);
  });
});

describe('H2: a disconnect ends the command', () => {
  test('of every pipelined request', async () => {
    const script = (index: number) =>
      post(JSON.stringify({ command: 'sh', args: ['-c', `sleep 100; # pipelined ${index}`] }));
    const socket = connect(here.port, '127.0.0.1');
    socket.write([1, 2, 3].map(script).join(''));
    // While a command starts, two processes may have its command line, so each command is looked for by itself.
    const running = () => [1, 2, 3].filter((index) => processesWith(`# pipelined ${index}`).length > 0);
    try {
      await expect.poll(running, { timeout: 15_000 }).toEqual([1, 2, 3]);
    } finally {
      socket.destroy();
    }
    await expect.poll(running, { timeout: 15_000 }).toEqual([]);
  });
});

describe('H10: a one-time link', () => {
  test('is not used up by a preview, a prefetch or a visit: only its button takes it', async () => {
    const visits = [
      { method: 'HEAD' },
      { headers: { 'Sec-Purpose': 'prefetch' } },
      { headers: { 'Sec-Purpose': 'prefetch;prerender' } },
      { headers: { Purpose: 'prefetch' } },
      {},
    ];
    for (const visit of visits) {
      const reply = await fetch(here.link, visit);
      expect(reply.status).toBe(200);
      expect(reply.headers.get('set-cookie')).toBeNull();
      expect(reply.headers.get('content-security-policy')).toContain("form-action 'self'");
      if (!('method' in visit)) expect(await reply.text()).toContain('<button autofocus>Open nacre</button>');
    }
    const foreign = { Origin: 'http://evil.example', 'Content-Type': 'application/x-www-form-urlencoded' };
    const { pathname, search } = new URL(here.link);
    const stolen = { method: 'POST', headers: foreign, body: search.slice(1) };
    expect((await rawRequest(here.address, pathname, stolen)).status).toBe(403);
    const taken = await takeLink(here.address, here.link);
    expect(taken.status).toBe(200);
    expect(taken.headers.get('set-cookie')).toContain('HttpOnly');
    expect((await fetch(here.link)).status).toBe(401);
  });

  test('opens once, however many requests arrive together', async () => {
    const { body } = await here.post('/api/link', {});
    const opened = await Promise.all(
      Array.from({ length: 8 }, () => takeLink(here.address, String(body.link))),
    );
    expect(opened.map(({ status }) => status).sort()).toEqual([200, ...Array(7).fill(401)]);
  });

  test('has the host name of the request that created it', async () => {
    const headers = { ...here.bearer, Host: `localhost:${here.port}` };
    const { body } = await rawRequest(here.address, '/api/link', { method: 'POST', headers });
    expect(body.link).toMatch(new RegExp(`^http://localhost:${here.port}/open\\?ticket=`));
  });
});
