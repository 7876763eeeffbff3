import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { serve, type TestServer } from '../support/http.ts';
import { sleep } from '../support/nacre.ts';
import { sendBytes } from '../support/raw-http.ts';

let here: TestServer;
beforeAll(async () => {
  here = await serve({ env: { SHELL_ALLOWLIST: 'echo' } });
});
afterAll(async () => {
  expect(here.stderr()).not.toContain('internal failure');
  expect(await here.close()).toEqual([]);
});

const toHead = (target: string, more: readonly string[], token = here.token) =>
  [
    `POST ${target} HTTP/1.1`,
    `Host: 127.0.0.1:${here.port}`,
    `Authorization: Bearer ${token}`,
    'Content-Type: application/json',
    ...more,
    '\r\n',
  ].join('\r\n');
const post = (target: string, body: string, more: readonly string[] = [], token = here.token) =>
  toHead(target, [`Content-Length: ${body.length}`, ...more], token) + body;
const echo = '{"command":"echo","args":["hello"]}';

interface RawReply {
  readonly status: number;
  /** Sorted, with names in lower case. */
  readonly headers: readonly string[];
  readonly body: unknown;
}

async function ask(bytes: string): Promise<RawReply> {
  const { status, text } = await sendBytes(here.port, bytes, {
    idleMs: 15_000,
    isComplete: (seen) => seen.endsWith('}'),
  });
  const [head = '', body = ''] = text.split('\r\n\r\n');
  const headers = head.split('\r\n').slice(1).map(withLowerName);
  const isStable = (line: string) => !/^(?:date|content-length):/.test(line);
  return { status, headers: headers.filter(isStable).sort(), body: JSON.parse(body) };
}

function withLowerName(line: string): string {
  const colon = line.indexOf(':');
  return line.slice(0, colon).toLowerCase() + line.slice(colon);
}

describe('H1: every form of the target gets the same reply', () => {
  const otherForms = ['/api/shell?again', '/api/%73hell', '/api/./shell'];

  test.each([
    ['a command that runs', echo, 200],
    ['a command that is not allowed', '{"command":"ls"}', 403],
    ['a body that is not a request', '{"command":3}', 400],
    ['a body that is not JSON', '{', 400],
  ])('%s', async (_, body, expected) => {
    const plain = await ask(post('/api/shell', body));
    expect(plain).toMatchObject({ status: expected, body: expected === 200 ? { stdout: 'hello\n' } : {} });
    expect(plain.headers).toContain('x-content-type-options: nosniff');
    for (const target of otherForms) {
      const { status, headers, body: replied } = await ask(post(target, body));
      expect([status, headers]).toEqual([plain.status, plain.headers]);
      if (expected !== 200) expect(replied).toEqual(plain.body);
    }
  });

  test('a wrong token, and a repeated one', async () => {
    const refused = await ask(post('/api/shell', echo, [], 'wrong'));
    expect(refused.status).toBe(401);
    expect(refused.headers).toContain('www-authenticate: Bearer realm="nacre"');
    expect(await ask(post('/api/shell?again', echo, [], 'wrong'))).toEqual(refused);
    expect(await ask(post('/api/shell', echo, [`authorization: Bearer ${here.token}`]))).toEqual(refused);
  });

  test('the Origin of the server itself, and a foreign one', async () => {
    const plain = await ask(post('/api/shell', echo));
    const own = await ask(post('/api/shell', echo, [`Origin: ${here.address}`]));
    expect([own.status, own.headers]).toEqual([plain.status, plain.headers]);
    expect((await ask(post('/api/shell', echo, ['Origin: https://evil.example']))).status).toBe(403);
  });

  test('each request is counted once', async () => {
    const count = async () => {
      const reply = await fetch(`${here.address}/metrics`, {
        headers: { Authorization: `Bearer ${here.token}` },
      });
      return Number(/nacre_http_answers_total\{status="403"\} (\d+)/.exec(await reply.text())?.[1] ?? 0);
    };
    const before = await count();
    for (const target of ['/api/shell', ...otherForms]) await ask(post(target, '{"command":"ls"}'));
    expect(await count()).toBe(before + 1 + otherForms.length);
  });
});

describe('H1: the body of a request', () => {
  async function inPieces(pieces: readonly string[], count = 1): Promise<string> {
    const socket = connect(here.port, '127.0.0.1').setNoDelay();
    let text = '';
    socket.on('data', (data) => {
      text += data;
    });
    for (const piece of pieces) {
      socket.write(piece);
      await sleep(30);
    }
    for (let tries = 0; tries < 500 && (text.match(/}(?=HTTP|$)/g) ?? []).length < count; tries += 1)
      await sleep(10);
    socket.destroy();
    return text;
  }

  test.each([
    ['after its headers', () => [toHead('/api/shell', [`Content-Length: ${echo.length}`]), echo]],
    ['in pieces', () => [post('/api/shell', echo).slice(0, -20), echo.slice(-20, -9), echo.slice(-9)]],
    [
      'in chunks',
      () => [
        `${toHead('/api/shell', ['Transfer-Encoding: chunked'])}5\r\n${echo.slice(0, 5)}\r\n`,
        `${(echo.length - 5).toString(16)}\r\n${echo.slice(5)}\r\n0\r\n\r\n`,
      ],
    ],
  ])('may arrive %s', async (_, pieces) => {
    expect(await inPieces(pieces())).toMatch(/^HTTP\/1\.1 200 .*"stdout":"hello\\n"/s);
  });

  test('that is refused and keeps arriving closes the connection', async () => {
    const socket = connect(here.port, '127.0.0.1');
    let text = '';
    let isClosed = false;
    socket.on('data', (data) => {
      text += data;
    });
    socket.on('error', () => {});
    socket.on('close', () => {
      isClosed = true;
    });
    socket.write(toHead('/api/shell', ['Content-Length: 1000000'], 'wrong'));
    for (let tries = 0; tries < 500 && !isClosed; tries += 1) {
      socket.write('x');
      await sleep(20);
    }
    socket.destroy();
    expect([text.slice(0, 12), isClosed]).toEqual(['HTTP/1.1 401', true]);
  });

  test.concurrent.each([
    ['of an unauthenticated request', () => post('/api/shell', echo, [], 'wrong'), 401],
    ['of a refused command', () => post('/api/shell', '{"command":"ls"}'), 403],
    ['that is not JSON', () => post('/api/shell', '{'), 400],
  ])('%s does not block later requests', async (_, refused, status) => {
    const next = () => post('/api/shell', echo);
    // 20 × 30 ms is longer than `unreadBodyMs`.
    const pieces = [refused() + next(), ...Array.from({ length: 20 }, () => ''), next()];
    const text = await inPieces(pieces, 3);
    expect(text.match(/(?<=HTTP\/1\.1 )\d+/g)).toEqual([String(status), '200', '200']);
  });
});
