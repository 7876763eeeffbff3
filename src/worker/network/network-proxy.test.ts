import { randomBytes } from 'node:crypto';
import { createServer as createHttpServer, type RequestListener, request } from 'node:http';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { createNetworkProxy, type NetworkProxy, type NetworkProxyOptions } from './network-proxy.ts';

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => server.close());
  return (server.address() as AddressInfo).port;
}

async function site(answer: RequestListener): Promise<number> {
  const server = createHttpServer(answer);
  closing.push(() => server.closeAllConnections());
  return listen(server);
}

async function proxyFor(options: NetworkProxyOptions): Promise<{ proxy: NetworkProxy; port: number }> {
  const proxy = createNetworkProxy(options);
  const listener = createServer();
  proxy.serve(listener);
  closing.push(() => proxy.close());
  return { proxy, port: await listen(listener) };
}

/** Sends bytes and takes all that comes until the other side ends. */
function talk(port: number, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let heard = '';
    const socket = connect(port, '127.0.0.1', () => socket.write(text, 'latin1'));
    socket.on('data', (bytes) => {
      heard += bytes.toString('latin1');
    });
    socket.once('close', () => resolve(heard));
    socket.once('error', reject);
  });
}

const get = (url: string, more = '') => `GET ${url} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${more}\r\n`;

describe('the proxy', () => {
  test('fetches a whole URL from a listed host, under its own name', async () => {
    const web = await site((asked, answer) => {
      const { host, cookie } = asked.headers;
      answer.setHeader('X-Kept', 'yes');
      answer.setHeader('Keep-Alive', 'timeout=77');
      answer.end(JSON.stringify([asked.method, asked.url, host, cookie, Object.keys(asked.headers).sort()]));
    });
    const { port } = await proxyFor({ allow: [`allowed.localhost:${web}`] });
    const more = 'Cookie: a=b\r\nProxy-Authorization: secret\r\nX-Hop: 1\r\nConnection: x-hop\r\n';
    const heard = await talk(port, get(`http://Allowed.localhost.:${web}/path?q=1`, more));
    expect(heard).toMatch(/^HTTP\/1\.1 200 OK\r\n/);
    expect(heard).toMatch(/x-kept: yes/i);
    expect(heard).not.toContain('timeout=77');
    const names = ['connection', 'cookie', 'host'];
    const told = ['GET', '/path?q=1', `allowed.localhost:${web}`, 'a=b', names];
    expect(heard).toContain(JSON.stringify(told));
  });

  test('passes a body on', async () => {
    const web = await site((asked, answer) => asked.pipe(answer));
    const { port } = await proxyFor({ allow: [`allowed.localhost:${web}`] });
    const answered = await new Promise<string>((resolve, reject) => {
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
    expect(answered).toBe('a body');
  });

  test('answers a host that is not listed with 403, names the setting and remembers the host', async () => {
    const { proxy, port } = await proxyFor({ allow: ['allowed.localhost'] });
    const plain = await talk(port, get('http://denied.localhost:81/'));
    const tunnelled = await talk(port, 'CONNECT denied.localhost:443 HTTP/1.1\r\n\r\n');
    for (const heard of [plain, tunnelled]) {
      expect(heard).toMatch(/^HTTP\/1\.1 403 Forbidden\r\n/);
      expect(heard).toMatch(/\r\n\r\nnacre: denied\.localhost:\d+ is not allowed: .*network_allow/);
    }
    expect(proxy.deniedHosts()).toEqual(['denied.localhost:81', 'denied.localhost:443']);
  });

  test('says so when a listed name leads to a private address', async () => {
    const resolve = async () => ['127.0.0.1'];
    const { proxy, port } = await proxyFor({ allow: ['public.example'], resolve });
    expect(await talk(port, get('http://public.example/'))).toContain('leads to a private address');
    expect(proxy.deniedHosts()).toEqual(['public.example:80']);
  });

  test('names the first of many refused hosts, and says that there were others', async () => {
    const { proxy, port } = await proxyFor({ allow: [] });
    for (let at = 0; at < 40; at++) await talk(port, get(`http://h${at % 36}.example/`));
    expect(proxy.deniedHosts()).toHaveLength(33);
    expect(proxy.deniedHosts().at(-1)).toBe('and others');
  });

  test('tunnels to a listed host, with what was sent along', async () => {
    const echo = await listen(createServer((socket) => socket.on('error', () => {}).pipe(socket)));
    const { port } = await proxyFor({ allow: [`allowed.localhost:${echo}`] });
    const heard = await new Promise<string>((resolve, reject) => {
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
    expect(heard).toBe('HTTP/1.1 200 Connection Established\r\n\r\nearly late');
  });

  test('reaches a host by the name that was looked up once', async () => {
    const web = await site((_asked, answer) => answer.end('here'));
    const asked: string[] = [];
    const resolve = async (host: string) => {
      asked.push(host);
      return ['127.0.0.1'];
    };
    const { port } = await proxyFor({ allow: [`name.example:${web}`, `127.0.0.1:${web}`], resolve });
    expect(await talk(port, get(`http://name.example:${web}/`))).toMatch(/here$/);
    expect(asked).toEqual(['name.example']);
  });

  test('answers 502 for what is listed and cannot be reached', async () => {
    const free = createServer();
    const nobody = await listen(free);
    await new Promise((resolve) => free.close(resolve));
    const { proxy, port } = await proxyFor({ allow: [`allowed.localhost:${nobody}`] });
    const plain = await talk(port, get(`http://allowed.localhost:${nobody}/`));
    const tunnelled = await talk(port, `CONNECT allowed.localhost:${nobody} HTTP/1.1\r\n\r\n`);
    for (const heard of [plain, tunnelled]) {
      expect(heard).toMatch(/^HTTP\/1\.1 502 Bad Gateway\r\n/);
      expect(heard).toContain('cannot be reached');
    }
    expect(proxy.deniedHosts()).toEqual([]);
  });

  test.each([
    ['a request for itself', 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['an https URL', get('https://allowed.localhost/')],
    ['a name before an @', get('http://allowed.localhost@denied.localhost/')],
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
  ])('answers %s with 400 and goes on', async (_title, text) => {
    const web = await site((_asked, answer) => answer.end('fine'));
    const { proxy, port } = await proxyFor({ allow: [`allowed.localhost:${web}`, 'allowed.localhost'] });
    expect(await talk(port, text)).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
    expect(proxy.deniedHosts()).toEqual([]);
    expect(await talk(port, get(`http://allowed.localhost:${web}/`))).toMatch(/fine$/);
  });

  test('survives random bytes and clients that leave', async () => {
    const web = await site((_asked, answer) => answer.end('fine'));
    const { port } = await proxyFor({ allow: [`allowed.localhost:${web}`], headersMs: 200, idleMs: 200 });
    for (let at = 0; at < 20; at++) {
      const socket = connect(port, '127.0.0.1', () => {
        socket.write(at % 2 ? randomBytes(200) : get(`http://allowed.localhost:${web}/`));
        if (at % 3) socket.resetAndDestroy();
      });
      socket.on('error', () => {});
      await new Promise((resolve) => socket.once('close', resolve).resume());
    }
    expect(await talk(port, get(`http://allowed.localhost:${web}/`))).toMatch(/fine$/);
  });

  test('ends connections that stand still', async () => {
    const silent = await listen(createServer((socket) => socket.on('error', () => {}).resume()));
    const { port } = await proxyFor({ allow: [`allowed.localhost:${silent}`], idleMs: 100 });
    expect(await talk(port, '')).toBe('');
    const heard = await talk(port, `CONNECT allowed.localhost:${silent} HTTP/1.1\r\n\r\n`);
    expect(heard).toContain('200 Connection Established');
  });

  test('takes no more connections than it may', async () => {
    const { port } = await proxyFor({ allow: [], maxConnections: 2 });
    const held = [connect(port, '127.0.0.1'), connect(port, '127.0.0.1')];
    await Promise.all(held.map((socket) => new Promise((resolve) => socket.once('connect', resolve))));
    expect(await talk(port, get('http://denied.example/')).catch(() => '')).toBe('');
    for (const socket of held) socket.destroy();
  });

  test('fetches from an address that is listed, of either kind and at the usual port', async () => {
    const asked: string[] = [];
    const { port } = await proxyFor({ allow: ['127.0.0.9', '[::1]:9'] });
    for (const url of ['http://127.0.0.9/', 'http://[::1]:9/']) asked.push(await talk(port, get(url)));
    expect(asked.map((heard) => /(\S+) cannot be reached/.exec(heard)?.[1])).toEqual([
      '127.0.0.9:80',
      '[::1]:9',
    ]);
  });

  test('answers 502 when the other side breaks off before it has answered', async () => {
    const rude = await listen(createServer((socket) => socket.on('error', () => {}).resetAndDestroy()));
    const { port } = await proxyFor({ allow: [`allowed.localhost:${rude}`] });
    expect(await talk(port, get(`http://allowed.localhost:${rude}/`))).toMatch(/^HTTP\/1\.1 502 /);
  });

  test('gives up a connection whose client has left', async () => {
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

  test('breaks off what the other side breaks off', async () => {
    const web = await site((_asked, answer) => {
      answer.writeHead(200, { 'Content-Length': 100 });
      answer.write('half');
      setTimeout(() => answer.destroy(), 20);
    });
    const { port } = await proxyFor({ allow: [`allowed.localhost:${web}`] });
    expect(await talk(port, get(`http://allowed.localhost:${web}/`)).catch(String)).toMatch(
      /half$|ECONNRESET/,
    );
  });

  test('ends every connection when it is closed, and takes no new socket then', async () => {
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

  test('does not grow with what it carries to a slow reader', async () => {
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
    // The kernel's buffers are full, ours are bounded, and the other side has to wait.
    expect(sent).toBe(stalledAt);
    expect(sent).toBeLessThan(64 * mebibyte.length);
    socket.destroy();
  });
});
