import { mkdirSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { rawRequest, serve, type TestServer } from '../support/http.ts';

const megabytes = 1_048_576;
let here: TestServer;
const host = (slug: string) => `${slug}.localhost:${here.port}`;
const put = (slug: string, name: string, content: string | Buffer) => {
  mkdirSync(join(here.cwd, 'applets', slug), { recursive: true });
  writeFileSync(join(here.cwd, 'applets', slug, name), content);
};
const get = (slug: string, path: string, headers: Record<string, string> = {}, method = 'GET') =>
  rawRequest(here.address, path, { method, headers: { Host: host(slug), ...headers } });

beforeAll(async () => {
  here = await serve({ args: ['--applets-dir', 'applets'] });
  for (const [slug, more] of [
    ['plain', ''],
    ['working', ',"workers":true'],
  ] as const) {
    put(slug, 'applet.json', `{"slug":"${slug}"${more}}`);
    put(slug, 'index.html', '<p>page</p>');
    put(slug, 'digits.txt', '0123456789');
  }
  put('working', 'sw.js', '// its own worker');
  put('plain', 'sw.js', '// a worker that the manifest does not ask for');
  put('plain', 'large.txt', Buffer.alloc(40 * megabytes, 'x'));
});
afterAll(async () => expect(await here.close()).toEqual([]));

describe('H10: files of an applet', () => {
  test('are sent in part, or not at all if the caller has them', async () => {
    const whole = await get('plain', '/digits.txt');
    expect(whole).toMatchObject({ status: 200, body: { text: '0123456789' } });
    expect(whole.headers.get('accept-ranges')).toBe('bytes');
    const ETag = whole.headers.get('etag') ?? '';
    const part = await get('plain', '/digits.txt', { Range: 'bytes=2-4', 'If-Range': ETag });
    expect(part).toMatchObject({ status: 206, body: { text: '234' } });
    expect(part.headers.get('content-range')).toBe('bytes 2-4/10');
    expect(part.headers.get('content-length')).toBe('3');
    const changed = await get('plain', '/digits.txt', { Range: 'bytes=2-4', 'If-Range': '"other"' });
    expect(changed).toMatchObject({ status: 200, body: { text: '0123456789' } });
    const outside = await get('plain', '/digits.txt', { Range: 'bytes=10-' });
    expect([outside.status, outside.headers.get('content-range')]).toEqual([416, 'bytes */10']);
    expect((await get('plain', '/digits.txt', { 'If-None-Match': `"x", W/${ETag}` })).status).toBe(304);
    const head = await get('plain', '/digits.txt', {}, 'HEAD');
    expect([head.status, head.headers.get('content-length')]).toEqual([200, '10']);
    put('plain', 'digits.txt', '9876543210');
    expect((await get('plain', '/digits.txt', { 'If-None-Match': ETag })).body.text).toBe('9876543210');
  });

  test('cost little memory, however many slow readers there are', async () => {
    const before = process.memoryUsage().rss;
    const sockets = Array.from({ length: 60 }, () => {
      const socket = connect(here.port, '127.0.0.1').pause();
      socket.on('error', () => {});
      socket.write(`GET /large.txt HTTP/1.1\r\nHost: ${host('plain')}\r\n\r\n`);
      return socket;
    });
    const size = await new Promise<number>((resolve, reject) => {
      const sent = request(here.address, { path: '/large.txt', headers: { Host: host('plain') } });
      sent.on('error', reject).on('response', async (response) => {
        let bytes = 0;
        for await (const chunk of response) bytes += chunk.length;
        resolve(bytes);
      });
      sent.end();
    });
    expect(size).toBe(40 * megabytes);
    expect(process.memoryUsage().rss - before).toBeLessThan(200 * megabytes);
    for (const socket of sockets) socket.destroy();
  });

  test('may start workers only if the manifest asks', async () => {
    const policyOf = async (slug: string) => (await get(slug, '/')).headers.get('content-security-policy');
    expect(await policyOf('plain')).toContain("worker-src 'none'");
    expect(await policyOf('working')).toContain("worker-src 'self'");
  });

  test('a service worker that the applet does not have, or no longer, is replaced by one that unregisters itself', async () => {
    const script = async (slug: string, path: string) => {
      const { status, headers, body } = await get(slug, path, { 'Service-Worker': 'script' });
      return [status, headers.get('clear-site-data'), String(body.text).includes('unregister()')];
    };
    const ended = [200, '"cache", "storage"', true];
    expect(await script('plain', '/sw.js')).toEqual(ended);
    expect(await script('working', '/gone.js')).toEqual(ended);
    expect(await script('removed', '/sw.js')).toEqual(ended);
    expect(await script('working', '/sw.js')).toEqual([200, null, false]);
    expect((await get('working', '/gone.js')).status).toBe(404);
  });
});
