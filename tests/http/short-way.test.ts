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

interface Answer {
  readonly status: number;
  /** In the order of their names, in lower case. */
  readonly headers: readonly string[];
  readonly body: unknown;
}

async function ask(bytes: string): Promise<Answer> {
  const { status, text } = await sendBytes(here.port, bytes, { isOver: (seen) => seen.endsWith('}') });
  const [head = '', body = ''] = text.split('\r\n\r\n');
  const headers = head.split('\r\n').slice(1).map(withLowerName);
  const isLasting = (line: string) => !/^(?:date|content-length):/.test(line);
  return { status, headers: headers.filter(isLasting).sort(), body: JSON.parse(body) };
}

function withLowerName(line: string): string {
  const colon = line.indexOf(':');
  return line.slice(0, colon).toLowerCase() + line.slice(colon);
}

describe('H1: the same answer, whichever way a request takes', () => {
  const longWays = ['/api/shell?again', '/api/%73hell', '/api/./shell'];

  test.each([
    ['a command that runs', echo, 200],
    ['a command that is not allowed', '{"command":"ls"}', 403],
    ['a body that is no request', '{"command":3}', 400],
    ['a body that is no JSON', '{', 400],
  ])('%s', async (_, body, expected) => {
    const short = await ask(post('/api/shell', body));
    expect(short).toMatchObject({ status: expected, body: expected === 200 ? { stdout: 'hello\n' } : {} });
    expect(short.headers).toContain('x-content-type-options: nosniff');
    for (const target of longWays) {
      const { status, headers, body: told } = await ask(post(target, body));
      expect([status, headers]).toEqual([short.status, short.headers]);
      if (expected !== 200) expect(told).toEqual(short.body);
    }
  });

  test('a token that is wrong, and one that is there twice', async () => {
    const short = await ask(post('/api/shell', echo, [], 'wrong'));
    expect(short.status).toBe(401);
    expect(short.headers).toContain('www-authenticate: Bearer realm="nacre"');
    expect(await ask(post('/api/shell?again', echo, [], 'wrong'))).toEqual(short);
    expect(await ask(post('/api/shell', echo, [`authorization: Bearer ${here.token}`]))).toEqual(short);
  });

  test('a page of the server itself, and one of elsewhere', async () => {
    const plain = await ask(post('/api/shell', echo));
    const own = await ask(post('/api/shell', echo, [`Origin: ${here.address}`]));
    expect([own.status, own.headers]).toEqual([plain.status, plain.headers]);
    expect((await ask(post('/api/shell', echo, ['Origin: https://evil.example']))).status).toBe(403);
  });

  test('each is counted once', async () => {
    const count = async () => {
      const reply = await fetch(`${here.address}/metrics`, {
        headers: { Authorization: `Bearer ${here.token}` },
      });
      return Number(/nacre_http_answers_total\{status="403"\} (\d+)/.exec(await reply.text())?.[1] ?? 0);
    };
    const before = await count();
    for (const target of ['/api/shell', ...longWays]) await ask(post(target, '{"command":"ls"}'));
    expect(await count()).toBe(before + 1 + longWays.length);
  });
});

describe('H1: a body', () => {
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
    ['behind its headers', () => [toHead('/api/shell', [`Content-Length: ${echo.length}`]), echo]],
    ['in pieces', () => [post('/api/shell', echo).slice(0, -20), echo.slice(-20, -9), echo.slice(-9)]],
    [
      'in chunks',
      () => [
        `${toHead('/api/shell', ['Transfer-Encoding: chunked'])}5\r\n${echo.slice(0, 5)}\r\n`,
        `${(echo.length - 5).toString(16)}\r\n${echo.slice(5)}\r\n0\r\n\r\n`,
      ],
    ],
  ])('may come %s', async (_, pieces) => {
    expect(await inPieces(pieces())).toMatch(/^HTTP\/1\.1 200 .*"stdout":"hello\\n"/s);
  });

  test('that nobody wants is not read forever', async () => {
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

  test.each([
    ['that nobody wants', () => post('/api/shell', echo, [], 'wrong'), 401],
    ['that is refused', () => post('/api/shell', '{"command":"ls"}'), 403],
    ['that is no JSON', () => post('/api/shell', '{'), 400],
  ])('%s is no obstacle to later requests', async (_, refused, status) => {
    const next = () => post('/api/shell', echo);
    // Longer than the time after which a body is given up.
    const pieces = [refused() + next(), ...Array.from({ length: 30 }, () => ''), next()];
    const text = await inPieces(pieces, 3);
    expect(text.match(/(?<=HTTP\/1\.1 )\d+/g)).toEqual([String(status), '200', '200']);
  });
});
