import { randomBytes } from 'node:crypto';
import { createServer as createHttpServer, type RequestListener, request } from 'node:http';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { NetworkProxy, type NetworkProxyOptions } from './network-proxy.ts';

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => server.close());
  return (server.address() as AddressInfo).port;
}

async function site(onRequest: RequestListener): Promise<number> {
  const server = createHttpServer(onRequest);
  closing.push(() => server.closeAllConnections());
  return listen(server);
}

async function proxyFor(
  options: NetworkProxyOptions,
): Promise<{ proxy: NetworkProxy; port: number; denied(): readonly string[] }> {
  const proxy = new NetworkProxy(options);
  const denied = proxy.watchDenied({ gone: new Promise(() => {}), hasConnection: async () => true });
  const listener = createServer();
  proxy.serve(listener);
  closing.push(() => proxy.close());
  return { proxy, port: await listen(listener), denied };
}

/** Sends bytes and returns everything received until the connection is closed. */
function exchange(port: number, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let received = '';
    const socket = connect(port, '127.0.0.1', () => socket.write(text, 'latin1'));
    socket.on('data', (bytes) => {
      received += bytes.toString('latin1');
    });
    socket.once('close', () => resolve(received));
    socket.once('error', reject);
  });
}

const get = (url: string, more = '') => `GET ${url} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${more}\r\n`;

describe('the proxy', () => {
  test('fetches an absolute URL from a listed host, and sets the Host header', async () => {
    const web = await site((incoming, reply) => {
      const { host, cookie } = incoming.headers;
      reply.setHeader('X-Kept', 'yes');
      reply.setHeader('Keep-Alive', 'timeout=77');
      reply.end(
        JSON.stringify([incoming.method, incoming.url, host, cookie, Object.keys(incoming.headers).sort()]),
      );
    });
    const { port } = await proxyFor({ allow: [`allowed.localhost:${web}`] });
    const more = 'Cookie: a=b\r\nProxy-Authorization: secret\r\nX-Hop: 1\r\nConnection: x-hop\r\n';
    const received = await exchange(port, get(`http://Allowed.localhost.:${web}/path?q=1`, more));
    expect(received).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(received).toMatch(/x-kept: yes/i);
    expect(received).not.toContain('timeout=77');
    const names = ['connection', 'cookie', 'host'];
    const expected = ['GET', '/path?q=1', `allowed.localhost:${web}`, 'a=b', names];
    expect(received).toContain(JSON.stringify(expected));
  });

  test('forwards a body', async () => {
    const web = await site((incoming, reply) => incoming.pipe(reply));
    const { port } = await proxyFor({ allow: [`allowed.localhost:${web}`] });
    const replied = await new Promise<string>((resolve, reject) => {
      const sent = request(
        { port, method: 'POST', path: `http://allowed.localhost:${web}/` },
        async (response) => {
          let text = '';
          for await (const part of response) text += part;
          resolve(text);
        },
      );
      sent.once('error', reject).end('a body');
    });
    expect(replied).toBe('a body');
  });

  test('replies 403 for a host that is not listed, names the setting and remembers the host', async () => {
    const { port, denied } = await proxyFor({ allow: ['allowed.localhost'] });
    const plain = await exchange(port, get('http://denied.localhost:81/'));
    const tunnelled = await exchange(port, 'CONNECT denied.localhost:443 HTTP/1.1\r\n\r\n');
    for (const received of [plain, tunnelled]) {
      expect(received).toMatch(/^HTTP\/1\.1 403 Forbidden\r\n/);
      expect(received).toMatch(/\r\n\r\nnacre: denied\.localhost:\d+ is not allowed: .*network_allow/);
    }
    expect(denied()).toEqual(['denied.localhost:81', 'denied.localhost:443']);
  });

  test('reports a listed name that resolves to a private address', async () => {
    const resolve = async () => ['127.0.0.1'];
    const { port, denied } = await proxyFor({ allow: ['public.example'], resolve });
    expect(await exchange(port, get('http://public.example/'))).toContain('resolves to a private address');
    expect(denied()).toEqual(['public.example:80']);
  });

  test('names the first of many refused hosts, and reports that there were others', async () => {
    const { port, denied } = await proxyFor({ allow: [] });
    for (let at = 0; at < 40; at++) await exchange(port, get(`http://h${at % 36}.example/`));
    expect(denied()).toHaveLength(33);
    expect(denied().at(-1)).toBe('and others');
  });

  test('tunnels to a listed host, with the bytes sent after CONNECT', async () => {
    const echo = await listen(createServer((socket) => socket.on('error', () => {}).pipe(socket)));
    const { port } = await proxyFor({ allow: [`allowed.localhost:${echo}`] });
    const received = await new Promise<string>((resolve, reject) => {
      let text = '';
      const socket = connect(port, '127.0.0.1', () =>
        socket.write(`CONNECT allowed.localhost:${echo} HTTP/1.1\r\n\r\nearly `),
      );
      socket.on('data', (bytes) => {
        text += bytes;
        if (text.endsWith('early ')) socket.end('late');
      });
      socket.once('close', () => resolve(text)).once('error', reject);
    });
    expect(received).toBe('HTTP/1.1 200 Connection Established\r\n\r\nearly late');
  });

  test('resolves the name of a host once', async () => {
    const web = await site((_incoming, reply) => reply.end('here'));
    const resolved: string[] = [];
    const resolve = async (host: string) => {
      resolved.push(host);
      return ['127.0.0.1'];
    };
    const { port } = await proxyFor({ allow: [`name.example:${web}`, `127.0.0.1:${web}`], resolve });
    expect(await exchange(port, get(`http://name.example:${web}/`))).toMatch(/here$/);
    expect(resolved).toEqual(['name.example']);
  });

  test('replies 502 for a listed host that cannot be reached', async () => {
    const free = createServer();
    const unused = await listen(free);
    await new Promise((resolve) => free.close(resolve));
    const { port, denied } = await proxyFor({ allow: [`allowed.localhost:${unused}`] });
    const plain = await exchange(port, get(`http://allowed.localhost:${unused}/`));
    const tunnelled = await exchange(port, `CONNECT allowed.localhost:${unused} HTTP/1.1\r\n\r\n`);
    for (const received of [plain, tunnelled]) {
      expect(received).toMatch(/^HTTP\/1\.1 502 Bad Gateway\r\n/);
      expect(received).toContain('cannot be reached');
    }
    expect(denied()).toEqual([]);
  });

  test.each([
    ['a request for the proxy itself', 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['an https URL', get('https://allowed.localhost/')],
    ['a user name that looks like a host', get('http://allowed.localhost@denied.localhost/')],
    ['CONNECT without a port', 'CONNECT allowed.localhost HTTP/1.1\r\n\r\n'],
    ['CONNECT with a URL', 'CONNECT http://allowed.localhost:443 HTTP/1.1\r\n\r\n'],
    ['CONNECT with a user', 'CONNECT a@allowed.localhost:443 HTTP/1.1\r\n\r\n'],
    ['a SOCKS greeting', '\x05\x01\x00'],
    ['a request without an address', 'GET\r\n\r\n'],
    [
      'two lengths',
      'GET http://allowed.localhost/ HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n',
    ],
    ['headers without end', `GET http://allowed.localhost/ HTTP/1.1\r\nX: ${'x'.repeat(40_000)}\r\n\r\n`],
    ['a header without a value', 'GET http://allowed.localhost/ HTTP/1.1\r\nA\r\n\r\n'],
  ])('replies 400 to %s, and keeps serving', async (_title, text) => {
    const web = await site((_incoming, reply) => reply.end('fine'));
    const { port, denied } = await proxyFor({ allow: [`allowed.localhost:${web}`, 'allowed.localhost'] });
    expect(await exchange(port, text)).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
    expect(denied()).toEqual([]);
    expect(await exchange(port, get(`http://allowed.localhost:${web}/`))).toMatch(/fine$/);
  });

  test('survives random bytes and clients that disconnect', async () => {
    const web = await site((_incoming, reply) => reply.end('fine'));
    const { port } = await proxyFor({ allow: [`allowed.localhost:${web}`], headersMs: 200, idleMs: 200 });
    for (let at = 0; at < 20; at++) {
      const socket = connect(port, '127.0.0.1', () => {
        socket.write(at % 2 ? randomBytes(200) : get(`http://allowed.localhost:${web}/`));
        if (at % 3) socket.resetAndDestroy();
      });
      socket.on('error', () => {});
      await new Promise((resolve) => socket.once('close', resolve).resume());
    }
    expect(await exchange(port, get(`http://allowed.localhost:${web}/`))).toMatch(/fine$/);
  });

  test('closes idle connections', async () => {
    const silent = await listen(createServer((socket) => socket.on('error', () => {}).resume()));
    const { port } = await proxyFor({ allow: [`allowed.localhost:${silent}`], idleMs: 100 });
    expect(await exchange(port, '')).toBe('');
    const received = await exchange(port, `CONNECT allowed.localhost:${silent} HTTP/1.1\r\n\r\n`);
    expect(received).toContain('200 Connection Established');
  });

  test('accepts no more than `maxConnections` connections', async () => {
    const { port } = await proxyFor({ allow: [], maxConnections: 2 });
    const open = [connect(port, '127.0.0.1'), connect(port, '127.0.0.1')];
    await Promise.all(open.map((socket) => new Promise((resolve) => socket.once('connect', resolve))));
    expect(await exchange(port, get('http://denied.example/')).catch(() => '')).toBe('');
    for (const socket of open) socket.destroy();
  });

  test('fetches from a listed IPv4 or IPv6 address, at port 80 by default', async () => {
    const replies: string[] = [];
    const { port } = await proxyFor({ allow: ['127.0.0.9', '[::1]:9'] });
    for (const url of ['http://127.0.0.9/', 'http://[::1]:9/']) replies.push(await exchange(port, get(url)));
    expect(replies.map((received) => /(\S+) cannot be reached/.exec(received)?.[1])).toEqual([
      '127.0.0.9:80',
      '[::1]:9',
    ]);
  });

  test('replies 502 when the server closes the connection before it responds', async () => {
    const rude = await listen(createServer((socket) => socket.on('error', () => {}).resetAndDestroy()));
    const { port } = await proxyFor({ allow: [`allowed.localhost:${rude}`] });
    expect(await exchange(port, get(`http://allowed.localhost:${rude}/`))).toMatch(/^HTTP\/1\.1 502 /);
  });

  test('closes the connection to the server when the client disconnects', async () => {
    let left: Promise<unknown> | undefined;
    const silent = await listen(
      createServer((socket) => {
        left = new Promise((resolve) =>
          socket
            .on('error', () => {})
            .once('close', resolve)
            .resume(),
        );
      }),
    );
    const { port } = await proxyFor({ allow: [`allowed.localhost:${silent}`] });
    const socket = connect(port, '127.0.0.1', () => socket.write(get(`http://allowed.localhost:${silent}/`)));
    await expect.poll(() => left !== undefined).toBe(true);
    socket.destroy();
    await left;
  });

  test('aborts the response when the server aborts it', async () => {
    const web = await site((_incoming, reply) => {
      reply.writeHead(200, { 'Content-Length': 100 });
      reply.write('half');
      setTimeout(() => reply.destroy(), 20);
    });
    const { port } = await proxyFor({ allow: [`allowed.localhost:${web}`] });
    expect(await exchange(port, get(`http://allowed.localhost:${web}/`)).catch(String)).toMatch(
      /half$|ECONNRESET/,
    );
  });

  test('closes every connection when it is closed, and serves no listener afterwards', async () => {
    const silent = await listen(createServer((socket) => socket.on('error', () => {}).resume()));
    const { proxy, port } = await proxyFor({ allow: [`allowed.localhost:${silent}`] });
    const socket = connect(port, '127.0.0.1', () =>
      socket.write(`CONNECT allowed.localhost:${silent} HTTP/1.1\r\n\r\n`),
    );
    await new Promise((resolve) => socket.once('data', resolve));
    const ended = new Promise((resolve) => socket.once('close', resolve).on('error', () => {}));
    proxy.close();
    await ended;
    const late = createServer();
    await listen(late);
    proxy.serve(late);
    expect(late.listening).toBe(false);
  });

  test('buffers a bounded amount for a slow reader', async () => {
    const mebibyte = Buffer.alloc(1_048_576, 1);
    let sent = 0;
    const flood = await listen(
      createServer((socket) => {
        const pour = () => {
          while (!socket.destroyed) {
            sent += mebibyte.length;
            if (!socket.write(mebibyte)) return void socket.once('drain', pour);
          }
        };
        socket.on('error', () => {});
        pour();
      }),
    );
    const { port } = await proxyFor({ allow: [`allowed.localhost:${flood}`] });
    const socket = connect(port, '127.0.0.1', () =>
      socket.write(`CONNECT allowed.localhost:${flood} HTTP/1.1\r\n\r\n`),
    );
    socket.on('error', () => {});
    await new Promise((resolve) => socket.once('data', resolve));
    socket.pause();
    await new Promise((resolve) => setTimeout(resolve, 300));
    const stalledAt = sent;
    await new Promise((resolve) => setTimeout(resolve, 300));
    // The buffers of the kernel and of the proxy are full, so that the server has to wait.
    expect(sent).toBe(stalledAt);
    expect(sent).toBeLessThan(64 * mebibyte.length);
    socket.destroy();
  });
});
