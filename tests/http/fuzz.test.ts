import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { serve, type TestServer } from '../support/http.ts';
import { openDescriptors } from '../support/processes.ts';
import { sendBytes } from '../support/raw-http.ts';
import { soakCount } from '../support/soak.ts';

const total = soakCount(10_000, 1_000);
const parallel = 50;
let here: TestServer;
beforeAll(async () => {
  here = await serve({ args: ['--applets-dir', 'nowhere'] });
});
afterAll(async () => expect(await here.close()).toEqual([]));

const word = fc.string({ unit: 'binary', maxLength: 30 });
const method = fc.constantFrom(
  'GET',
  'POST',
  'PUT',
  'DELETE',
  'OPTIONS',
  'HEAD',
  'PATCH',
  'CONNECT',
  'GE T',
  '',
);
const path = fc.oneof(
  fc.constantFrom(
    '/',
    '/api/shell',
    '/api/shell/stream',
    '/mcp',
    '/open',
    '/api/tools/Bash',
    '/applets/x/',
    '/assets/x.js',
    '//',
    '*',
  ),
  fc.constantFrom(
    '/assets/../serve.ts',
    '/assets/%2e%2e%2fserve.ts',
    '/%00',
    '/%',
    '/applets/%2e%2e/',
    '/assets/\\..\\x.js',
  ),
  word.map((text) => `/${encodeURI(text.toWellFormed())}`),
  word.map((text) => `/${text}`),
  word.map((text) => `/applets/${encodeURIComponent(text.toWellFormed())}`),
);
const body = fc.oneof(
  fc.json(),
  fc.json().map((text) => text.slice(0, text.length >> 1)),
  fc.record({ command: fc.anything(), args: fc.anything(), cwd: fc.anything() }).map((one) => {
    try {
      return JSON.stringify(one) ?? '';
    } catch {
      return '{';
    }
  }),
  word,
);
const request = fc
  .record({
    method,
    path,
    body,
    host: fc.constantFrom(
      '127.0.0.1:PORT',
      'localhost:PORT',
      'x.localhost:PORT',
      'evil',
      '',
      '127.0.0.1:PORT:1',
    ),
    type: fc.constantFrom('application/json', 'text/plain', 'application/json; charset=x', ''),
    // No wrong tokens: after a few of them, every further token of this address is refused.
    token: fc.constantFrom('TOKEN', 'TOKEN', 'TOKEN', ''),
    length: fc.constantFrom('right', 'right', 'none', '-1', '999999999999', 'x'),
    more: fc.array(fc.tuple(fc.stringMatching(/^[A-Za-z-]{1,12}$/), word), { maxLength: 3 }),
    upgrade: fc.constantFrom('', '', '', 'websocket', 'h2c'),
    key: fc.constantFrom('x', 'dGhlIHNhbXBsZSBub25jZQ=='),
  })
  .map((one) => {
    const host = one.host.replace('PORT', String(here.port));
    const lines = [
      `${one.method} ${one.path} HTTP/1.1`,
      `Host: ${host}`,
      `Content-Type: ${one.type}`,
      `Authorization: Bearer ${one.token.replace('TOKEN', here.token)}`,
      ...(one.length === 'none'
        ? []
        : [`Content-Length: ${one.length === 'right' ? Buffer.byteLength(one.body) : one.length}`]),
      ...one.more.map(([name, value]) => `${name}: ${value}`),
      ...(one.upgrade === ''
        ? ['Connection: close']
        : [
            'Connection: Upgrade',
            `Upgrade: ${one.upgrade}`,
            `Sec-WebSocket-Key: ${one.key}`,
            'Sec-WebSocket-Version: 13',
          ]),
    ];
    return Buffer.from(`${lines.join('\r\n')}\r\n\r\n${one.body}`);
  });

const send = (bytes: Buffer) =>
  sendBytes(here.port, bytes, { idleMs: 500, isComplete: (text) => text.includes('\r\n\r\n') });

test('H10: malformed requests are refused without a crash or a leak', {
  timeout: 120_000,
}, async () => {
  const before = openDescriptors();
  const requests = fc.sample(request, total);
  const statuses = new Map<number, number>();
  for (let at = 0; at < total; at += parallel) {
    for (const { status } of await Promise.all(requests.slice(at, at + parallel).map(send)))
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
  }
  const failures = [...statuses].filter(([status]) => status >= 500);
  // 500 is the specified status of a missing program; other 5xx statuses are defects.
  expect(here.stderr()).not.toContain('internal failure');
  expect(failures.filter(([status]) => status !== 500 && status !== 501 && status !== 505)).toEqual([]);
  expect(statuses.get(400)).toBeGreaterThan(total / 100);
  expect((await here.shell('git', ['--version'])).status).toBe(200);
  expect(openDescriptors() - before).toBeLessThan(50);
});
