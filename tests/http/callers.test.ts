import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { Agent, type RequestOptions, request } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { rawRequest, serve, type TestServer, takeLink } from '../support/http.ts';
import { createPlace, runInProcess } from '../support/nacre.ts';
import { openSocket, refusalOf } from '../support/socket.ts';

const json = { 'Content-Type': 'application/json' };
const ask = JSON.stringify({ command: 'git', args: ['--version'] });
let here: TestServer;

beforeAll(async () => {
  here = await serve({
    env: { NACRE_CORS_ORIGINS: 'http://localhost:6274', NACRE_HTTP_HOSTS: 'nacre.example.net' },
  });
});
afterAll(async () => expect(await here.close()).toEqual([]));

const send = (headers: Record<string, string>, body = ask) =>
  rawRequest(here.address, '/api/shell', { method: 'POST', headers: { ...json, ...headers }, body });

describe('H10: a token', () => {
  test('is required, and must be the right one', async () => {
    const without = await here.send('/api/shell', { method: 'POST', headers: json, body: ask });
    expect(without).toMatchObject({ status: 401, body: { error: expect.stringMatching(/token/) } });
    expect(without.headers.get('www-authenticate')).toMatch(/^Bearer/);
    expect((await here.post('/api/shell', ask, { Authorization: `Bearer ${here.token}x` })).status).toBe(401);
    expect((await here.post('/api/shell', ask, { Authorization: `Basic ${here.token}` })).status).toBe(401);
    expect(
      (await here.send(`/api/shell?token=${here.token}`, { method: 'POST', headers: json, body: ask }))
        .status,
    ).toBe(401);
    expect((await here.post('/api/shell', ask)).status).toBe(200);
    expect(here.stderr()).toContain('refused 127.0.0.1: no token');
    expect(here.stderr()).not.toContain(here.token);
  });

  test('that is wrong too often gets 429, and so does the right one, except on a connection that has proven it', async () => {
    const other = await serve();
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    const send = (token: string, more: RequestOptions = {}) =>
      new Promise<[number, string]>((resolve, reject) => {
        const headers = { Authorization: `Bearer ${token}` };
        const sent = request(`${other.address}/api/tools`, { headers, agent: false, ...more });
        sent.on('error', reject).on('response', async (response) => {
          let text = '';
          for await (const chunk of response) text += chunk;
          resolve([response.statusCode ?? 0, text.replace(/\d+ s/, 'N s')]);
        });
        sent.end();
      });
    expect((await send(other.token, { agent }))[0]).toBe(200);
    const statuses = [];
    for (let tries = 0; tries < 14; tries += 1)
      statuses.push((await other.post('/api/shell', ask, { Authorization: 'Bearer wrong' })).status);
    expect(statuses.slice(0, 10)).toEqual(Array(10).fill(401));
    expect(statuses.at(-1)).toBe(429);
    // All of 127.0.0.0/8 counts as one caller.
    const wrong = await send('wrong', { localAddress: '127.0.77.7' });
    expect(wrong[0]).toBe(429);
    expect(await send(other.token)).toEqual(wrong);
    expect((await send(other.token, { agent }))[0]).toBe(200);
    expect((await send('wrong', { agent }))[0]).toBe(429);
    // A request without a token guesses nothing: pages of other sites could send it, and must not lock the owner out.
    expect((await other.send('/api/tools', {})).status).toBe(401);
    agent.destroy();
    expect(await other.close()).toEqual([]);
  });

  test('can be configured, or stored in a file that commands cannot read', async () => {
    const configured = await serve({ env: { NACRE_TOKEN: 'a-token-that-is-long-enough' } });
    expect(configured.token).toBe('a-token-that-is-long-enough');
    expect(await configured.close()).toEqual([]);
    const args = ['--token-file', 'kept/token'];
    const stored = await serve({ args });
    const file = join(stored.cwd, 'kept', 'token');
    expect(readFileSync(file, 'utf8').trim()).toBe(stored.token);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect((await stored.shell('cat', [file])).body).toMatchObject({ stdout: '' });
    expect(await stored.close()).toEqual([]);
  });

  test.each([
    ['is short', 'short', 0o600, /must contain 16 to 512/],
    ['has blanks', 'a token with blanks in it', 0o600, /without blanks/],
    ['others can read', 'a-token-that-is-long-enough', 0o644, /others can read it/],
  ])('in a file that %s prevents the start', async (_, text, mode, words) => {
    const place = createPlace();
    writeFileSync(join(place.cwd, 'token'), text);
    chmodSync(join(place.cwd, 'token'), mode);
    const { code, stderr } = await runInProcess(['serve', '--port', '0', '--token-file', 'token'], place);
    expect(code).toBe(125);
    expect(stderr).toMatch(words);
  });

  test('is never printed, not even in the error about it', async () => {
    const place = createPlace({ NACRE_TOKEN: 'a-token-that-is-long-enough' });
    expect((await runInProcess(['config'], place)).stdout).toMatch(/^token +"\(hidden\)"/m);
    const short = createPlace({ NACRE_TOKEN: 'too-short' });
    const { stderr, code } = await runInProcess(['serve'], short);
    expect(code).toBe(125);
    expect(stderr).toMatch(/16 to 512 printable/);
    expect(stderr).not.toContain('too-short');
    const blank = createPlace({ NACRE_TOKEN: 'a token with blanks in it' });
    expect((await runInProcess(['serve'], blank)).code).toBe(125);
  });
});

describe('H10: a foreign Host or Origin is 403', () => {
  const foreign = ['evil.example', 'localhost', 'localhost:1', '127.0.0.1', 'x.localhost:1'];
  test.each(foreign)('the Host %j, on every route', async (Host) => {
    expect((await send({ ...here.bearer, Host })).status).toBe(403);
    for (const path of ['/', '/healthz', '/readyz', '/applets/'])
      expect((await rawRequest(here.address, path, { headers: { Host } })).status).toBe(403);
  });

  test.each(['http://evil.example', 'null', 'http://localhost:1', 'https://127.0.0.1', 'file://'])(
    'the Origin %s',
    async (Origin) => {
      const reply = await send({ ...here.bearer, Origin });
      expect(reply).toMatchObject({ status: 403, body: { error: expect.stringMatching(/origin/) } });
      expect(reply.headers.get('access-control-allow-origin')).toBeNull();
      expect((await rawRequest(here.address, '/healthz', { headers: { Origin } })).status).toBe(403);
    },
  );

  test.each(['[::1', 'x.127.0.0.1:80', 'a b', 'x\\y'])('the Host %j is malformed', async (Host) => {
    const reply = await send({ ...here.bearer, Host });
    expect([400, 403]).toContain(reply.status);
    expect(reply.headers.get('x-content-type-options') ?? 'nosniff').toBe('nosniff');
  });

  test('names of this machine and of http_hosts are accepted', async () => {
    for (const Host of [
      `localhost:${here.port}`,
      `127.0.0.1:${here.port}`,
      `[::1]:${here.port}`,
      'nacre.example.net',
    ])
      expect((await send({ ...here.bearer, Host })).status).toBe(200);
    const own = { Host: `localhost:${here.port}`, Origin: `http://localhost:${here.port}` };
    expect((await send({ ...here.bearer, ...own })).status).toBe(200);
  });

  test('a page of cors_origins may call with a token, and read the reply', async () => {
    const Origin = 'http://localhost:6274';
    const preflight = await rawRequest(here.address, '/api/shell', {
      method: 'OPTIONS',
      headers: { Origin },
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get('access-control-allow-origin')).toBe(Origin);
    const reply = await send({ ...here.bearer, Origin });
    expect(reply.status).toBe(200);
    expect(reply.headers.get('access-control-allow-origin')).toBe(Origin);
    const other = await rawRequest(here.address, '/api/shell', {
      method: 'OPTIONS',
      headers: { Origin: 'http://localhost:1' },
    });
    expect(other.headers.get('access-control-allow-origin')).toBeNull();
  });
});

describe('H10: the cookie of a page', () => {
  let cookie: string;
  beforeAll(async () => {
    const opened = await takeLink(here.address, here.link);
    cookie = opened.headers.get('set-cookie')?.split(';')[0] ?? '';
  });

  test('is accepted from the page itself only, not from a page of cors_origins', async () => {
    const other = { Cookie: cookie, Origin: 'http://localhost:6274' };
    expect((await send({ Cookie: cookie, Origin: here.address })).status).toBe(200);
    expect((await send(other)).status).toBe(401);
    expect((await send({ ...other, 'Sec-Fetch-Site': 'same-origin' })).status).toBe(401);
    expect(await refusalOf(here.address, other)).toBe(401);
    expect((await send({ Cookie: cookie })).status).toBe(401);
    expect((await send({ Cookie: cookie, 'Sec-Fetch-Site': 'same-site' })).status).toBe(401);
  });

  test('is found among others of its name, which pages on other ports can set', async () => {
    const [name] = cookie.split('=');
    const tossed = { Cookie: `${name}=x; ${cookie}; ${name}=y`, 'Sec-Fetch-Site': 'same-origin' };
    expect((await send(tossed)).status).toBe(200);
    expect((await send({ ...tossed, Cookie: `${name}=x; ${name}=y` })).status).toBe(401);
  });
});

describe('H2: refusals have a fixed order', () => {
  const long = JSON.stringify({ command: 'ls', args: ['x'.repeat(1_100_000)] });
  test('401, 403, 413, 415, 400, 403', async () => {
    const [bad, type] = [{ Host: 'evil.example' }, { 'Content-Type': 'text/plain' }];
    expect((await send({ ...bad, ...type }, 'x')).status).toBe(401);
    expect((await send({ ...here.bearer, ...bad, ...type }, long)).status).toBe(403);
    expect((await send({ ...here.bearer, ...type }, long)).status).toBe(413);
    expect((await send({ ...here.bearer, ...type }, '{')).status).toBe(415);
    expect((await send({ ...here.bearer }, '{')).status).toBe(400);
    expect((await send({ ...here.bearer }, '{"command":"rm","cwd":"/nowhere"}')).status).toBe(400);
    expect((await send({ ...here.bearer }, '{"command":"rm"}')).status).toBe(403);
  });

  test('413 for a long body without Content-Length', async () => {
    const chunked = { ...here.bearer, 'Transfer-Encoding': 'chunked' };
    const reply = await send(chunked, long).catch((error: Error) => error);
    // The server may close the connection while the rest is still being sent.
    if (!(reply instanceof Error)) expect(reply.status).toBe(413);
    expect((await here.post('/api/shell', ask)).status).toBe(200);
  });
});

describe('H10: named tokens', () => {
  const sha256 = (token: string) => createHash('sha256').update(token).digest('hex');
  let named: TestServer;
  beforeAll(async () => {
    named = await serve({
      env: { ALLOWED_COMMANDS: '*', NACRE_TOOLS: 'all', NACRE_TERMINAL_SHELLS: 'bash' },
      userFile: [
        'tokens:',
        `  - { name: ci, sha256: ${sha256('the-token-of-ci')}, allow: [git, rm], cwd_roots: [/usr] }`,
        `  - { name: slow, sha256: ${sha256('the-token-of-slow')}, requests_per_minute: 2 }`,
        `  - { name: streams, sha256: ${sha256('the-token-of-streams')}, requests_per_minute: 2 }`,
        `  - { name: batches, sha256: ${sha256('the-token-of-batches')}, requests_per_minute: 2 }`,
        `  - { name: plain, sha256: ${sha256('the-token-of-plain')} }`,
        `  - { name: shells, sha256: ${sha256('the-token-of-shells')}, allow: [bash], cwd_roots: [/usr] }`,
      ].join('\n'),
    });
    mkdirSync(join(named.cwd, 'below'));
  });
  afterAll(async () => expect(await named.close()).toEqual([]));
  const as = (token: string) => ({ Authorization: `Bearer ${token}` });
  const shell = (token: string, body: object) => named.post('/api/shell', body, as(token));

  test('have an allow list that only narrows the server’s', async () => {
    const cwd = '/usr';
    expect((await shell('the-token-of-ci', { command: 'git', args: ['--version'], cwd })).status).toBe(200);
    const refused = await shell('the-token-of-ci', { command: 'ls', cwd });
    expect(refused).toMatchObject({ status: 403, body: { error: expect.stringMatching(/token ci/) } });
    expect((await shell('the-token-of-ci', { command: 'rm', cwd })).status).toBe(403);
  });

  test('have their own directories', async () => {
    expect(
      (await shell('the-token-of-ci', { command: 'git', args: ['--version'], cwd: '/usr/lib' })).status,
    ).toBe(200);
    expect((await shell('the-token-of-ci', { command: 'git', cwd: join(named.cwd, 'below') })).status).toBe(
      403,
    );
  });

  test('may not run in the server’s own directory either if it is outside of theirs', async () => {
    const outside = /The server’s own directory .* is not allowed here: it is not within \/usr/;
    expect(await shell('the-token-of-ci', { command: 'git', args: ['--version'] })).toMatchObject({
      status: 403,
      body: { error: expect.stringMatching(outside) },
    });
    for (const tool of ['execute_command', 'start_command', 'check_command', 'shell_execute', 'Bash']) {
      const { body } = await named.post(
        `/api/tools/${tool}`,
        { command: 'git --version' },
        as('the-token-of-ci'),
      );
      expect(body.text, tool).toMatch(/not within \/usr/);
    }
    const socket = await openSocket(named.address, as('the-token-of-ci'));
    socket.send({ type: 'shell.run', id: 'a', command: 'git', args: ['--version'] });
    expect(await socket.until(({ type }) => type === 'shell.error')).toMatchObject({
      error: expect.stringMatching(outside),
    });
    await socket.close();
  });

  test('see only their own metrics', async () => {
    await shell('the-token-of-ci', { command: 'git', args: ['--version'], cwd: '/usr' });
    await shell(named.token, { command: 'ls' });
    const metrics = async (token: string) =>
      String(await (await fetch(`${named.address}/metrics`, { headers: as(token) })).text());
    const [own, all] = [await metrics('the-token-of-ci'), await metrics(named.token)];
    expect(all).toMatch(/nacre_commands_total\{outcome="completed",program="ls"/);
    expect(own).toMatch(/nacre_commands_total\{outcome="completed",program="git"/);
    expect(own).not.toMatch(/outcome="completed",program="ls"|nacre_spool_bytes|nacre_queue /);
    expect(await metrics('the-token-of-plain')).not.toMatch(/nacre_commands_total\{/);
  });

  test('share what may run, and leave a place for the owner', async () => {
    const crowded = await serve({
      env: { ALLOWED_COMMANDS: '*', NACRE_MAX_RUNNING: '5', NACRE_HTTP_MAX_RUNNING: '5' },
      userFile: [
        'tokens:',
        ...['one', 'two'].map((name) => `  - { name: ${name}, sha256: ${sha256(`the-token-of-${name}`)} }`),
      ].join('\n'),
    });
    const start = async (token: string) =>
      (await crowded.post('/api/tools/start_command', { command: 'sleep 3277' }, as(token))).body;
    const started = { is_error: false };
    for (let count = 0; count < 2; count += 1) expect(await start('the-token-of-one')).toMatchObject(started);
    expect(await start('the-token-of-one')).toMatchObject({
      is_error: true,
      text: expect.stringContaining('2 commands are already running for this token, which is its share.'),
    });
    for (let count = 0; count < 2; count += 1) expect(await start('the-token-of-two')).toMatchObject(started);
    expect(await start(crowded.token)).toMatchObject(started);
    expect(await start(crowded.token)).toMatchObject({ is_error: true });
    expect(await crowded.close()).toEqual([]);
  });

  test('apply to tools as well', async () => {
    const call = (command: string, token: string) =>
      named.post('/api/tools/execute_command', { command, cwd: '/usr' }, as(token));
    expect((await call('git --version', 'the-token-of-ci')).body).toMatchObject({ is_error: false });
    expect((await call('ls', 'the-token-of-ci')).body).toMatchObject({
      is_error: true,
      text: expect.stringMatching(/not allowed/),
    });
  });

  test('have their own rate limit', async () => {
    const replies = [];
    for (let tries = 0; tries < 4; tries += 1)
      replies.push(await shell('the-token-of-slow', { command: 'git', args: ['--version'] }));
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 429, 429]);
    expect(Number(replies[3]?.headers.get('retry-after'))).toBeGreaterThan(10);
  });

  test('cannot evade their rate limit with many commands over one socket', async () => {
    const socket = await openSocket(named.address, as('the-token-of-streams'));
    for (const id of ['a', 'b', 'c', 'd'])
      socket.send({ type: 'shell.run', id, command: 'git', args: ['--version'] });
    await socket.exit('a');
    await socket.exit('b');
    await socket.until(({ id, type }) => id === 'd' && type === 'shell.error');
    expect(socket.of('c', 'shell.error')).toMatchObject([
      { error: expect.stringMatching(/reached its rate limit/) },
    ]);
    await socket.close();
  });

  test('cannot evade their rate limit with a batch over MCP', async () => {
    const mcp = async (body: unknown, session = '') =>
      fetch(named.mcp, {
        method: 'POST',
        headers: {
          ...as('the-token-of-batches'),
          ...json,
          Accept: 'application/json, text/event-stream',
          ...(session !== '' && { 'Mcp-Session-Id': session, 'Mcp-Protocol-Version': '2025-03-26' }),
        },
        body: JSON.stringify(body),
      });
    const clientInfo = { name: 'tester', version: '1' };
    const params = { protocolVersion: '2025-03-26', capabilities: {}, clientInfo };
    const opened = await mcp({ jsonrpc: '2.0', id: 0, method: 'initialize', params });
    const call = { name: 'execute_command', arguments: { command: 'git --version' } };
    const batch = [1, 2, 3, 4].map((id) => ({ jsonrpc: '2.0', id, method: 'tools/call', params: call }));
    const text = await (await mcp(batch, opened.headers.get('mcp-session-id') ?? '')).text();
    expect(text.match(/git version/g)?.length).toBeGreaterThan(0);
    expect(text.match(/This token has reached its rate limit/g)?.length).toBeGreaterThan(0);
    expect(text.match(/"isError":true/g)).toHaveLength(2);
  });

  test('open a terminal only if their list names the shell, and only in their directories', async () => {
    const open = async (token: string, cwd: string) => {
      const socket = await openSocket(named.address, as(token));
      const pty = { cols: 80, rows: 24 };
      socket.send({ type: 'shell.run', id: 'a', command: 'bash', args: ['-c', 'pwd'], cwd, pty });
      const { error } = await socket.until(({ type }) => type === 'shell.exit' || type === 'shell.error');
      await socket.close();
      return error;
    };
    expect(await open('the-token-of-plain', '/usr')).toMatch(/bash is not allowed/);
    expect(await open('the-token-of-ci', '/usr')).toMatch(/bash is not allowed/);
    expect(await open('the-token-of-shells', '/usr')).toBeUndefined();
    expect(await open('the-token-of-shells', named.cwd)).toMatch(/not within \/usr/);
  });

  test('do not see each other’s commands', async () => {
    const start = await named.post(
      '/api/tools/start_command',
      { command: 'git --version', cwd: '/usr' },
      as('the-token-of-ci'),
    );
    const { command_id } = start.body.result as { command_id: string };
    const other = await named.post('/api/tools/read_output', { command_id });
    expect(other.body).toMatchObject({ is_error: true });
    const own = await named.post(
      '/api/tools/read_output',
      { command_id, cursor: 0, wait_ms: 5_000 },
      as('the-token-of-ci'),
    );
    expect(own.body.text).toContain('git version');
  });
});

describe('H10: the address', () => {
  test.each(['0.0.0.0', '::', '192.0.2.1'])('%s requires TLS or --insecure', async (host) => {
    const { code, stderr } = await runInProcess(['serve', '--host', host], createPlace());
    expect(code).toBe(125);
    expect(stderr).toMatch(/without TLS.*\n.*--insecure/);
  });

  test('tls_cert without tls_key, missing files and a port in use are reported', async () => {
    const serveWith = (...args: string[]) => runInProcess(['serve', ...args], createPlace());
    expect((await serveWith('--tls-cert', 'x')).stderr).toMatch(/belong together/);
    expect((await serveWith('--tls-cert', 'x', '--tls-key', 'y')).stderr).toMatch(/x cannot be read/);
    expect((await serveWith('--port', String(here.port))).stderr).toMatch(/already in use/);
  });

  test('--insecure serves beyond this machine without TLS', async () => {
    const open = await serve({ args: ['--host', '0.0.0.0', '--insecure'] });
    expect(open.address).toMatch(/^http:\/\/localhost:/);
    expect((await open.shell('git', ['--version'])).status).toBe(200);
    expect(await open.close()).toEqual([]);
  });
});

describe('H10: replies', () => {
  test('have security headers', async () => {
    for (const path of ['/healthz', '/api/shell', '/nowhere']) {
      const { headers } = await here.send(path);
      expect(Object.fromEntries(headers)).toMatchObject({
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
        'referrer-policy': 'no-referrer',
        'cross-origin-resource-policy': 'same-origin',
        'content-security-policy': expect.stringContaining("frame-ancestors 'none'"),
        'cache-control': 'no-store',
      });
    }
  });

  test('of unknown routes reveal nothing more', async () => {
    const { status, body } = await here.send('/nowhere');
    expect(status).toBe(404);
    expect(body).toEqual({
      error: 'There is nothing at GET /nowhere; GET /docs lists every route.',
    });
  });

  test.each([
    ['PUT', '/api/shell', 'POST, OPTIONS'],
    ['GET', '/api/shell', 'POST, OPTIONS'],
    ['HEAD', '/api/shell', 'POST, OPTIONS'],
    ['POST', '/healthz', 'GET, HEAD, OPTIONS'],
    ['POST', '/api/shell/stream', 'GET, HEAD, OPTIONS'],
    ['GET', '/api/tools/Bash', 'POST, OPTIONS'],
    ['PUT', '/mcp', 'GET, HEAD, POST, DELETE, OPTIONS'],
    ['PROPFIND', '/', 'GET, HEAD, OPTIONS'],
  ])('to %s %s are 405 with the methods that the path accepts', async (method, path, allow) => {
    const { status, headers, body } = await rawRequest(here.address, path, { method });
    expect([status, headers.get('allow')]).toEqual([405, allow]);
    if (method !== 'HEAD') expect(body.error).toContain(`${path} does not accept ${method}; use `);
  });

  test('to OPTIONS list the methods, except for a foreign Host', async () => {
    const options = (path: string, headers = {}) =>
      rawRequest(here.address, path, { method: 'OPTIONS', headers });
    const { status, headers, body } = await options('/api/shell');
    expect([status, headers.get('allow'), body]).toEqual([204, 'POST, OPTIONS', { text: '' }]);
    expect((await options('/nowhere')).status).toBe(404);
    expect((await options('/api/shell', { Host: 'evil.example' })).status).toBe(403);
    expect((await options('/api/shell', { Origin: 'https://evil.example' })).status).toBe(403);
  });

  test('to HEAD have the headers of GET and no body', async () => {
    const { status, headers, body } = await rawRequest(here.address, '/healthz', { method: 'HEAD' });
    expect([status, body]).toEqual([200, { text: '' }]);
    expect(Number(headers.get('content-length'))).toBeGreaterThan(10);
  });

  test('to GET /api/shell/stream without an upgrade are 426', async () => {
    const { status, headers, body } = await rawRequest(here.address, '/api/shell/stream');
    expect([status, headers.get('upgrade')]).toEqual([426, 'websocket']);
    expect(body.error).toContain('WebSocket');
  });
});
