import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type HttpReply, rawRequest, serve, type TestServer, takeLink } from '../support/http.ts';
import { openSocket, refusalOf } from '../support/socket.ts';

let here: TestServer;
let cookies: Record<string, string>;

const write = (folder: string, files: Readonly<Record<string, string>>) => {
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
};
const manifest = (slug: string, permissions: readonly string[]) => JSON.stringify({ slug, permissions });

beforeAll(async () => {
  here = await serve({ args: ['--applets-dir', 'applets'] });
  const applets = join(here.cwd, 'applets');
  write(join(applets, 'gits'), {
    'applet.json': manifest('gits', ['shell:git']),
    'index.html': '<p>git',
    '.hidden.txt': 'x',
  });
  write(join(applets, 'lister'), {
    'applet.json': manifest('lister', ['shell:ls', 'shell:rm']),
    'index.html': 'x',
  });
  write(join(applets, 'idle'), {
    'applet.json': '{"slug":"idle","icon":"x.png"}',
    'index.html': 'x',
    'a.css': 'p{}',
    'b.exe': 'x',
  });
  // Entries of `applets_dir` that are not applets are ignored.
  write(applets, { 'README.txt': 'x' });
  symlinkSync('nowhere', join(applets, 'broken'));
  write(join(here.cwd, 'outside'), { 'secret.txt': 'secret' });
  symlinkSync(join(here.cwd, 'outside', 'secret.txt'), join(applets, 'idle', 'link.txt'));
  cookies = { main: await signIn(here.link, here.address) };
  for (const slug of ['gits', 'lister', 'idle']) cookies[slug] = await openApplet(slug);
});
afterAll(async () => expect(await here.close()).toEqual([]));

const get = (host: string, path: string, headers: Record<string, string> = {}) =>
  rawRequest(here.address, path, { headers: { Host: host, ...headers } });
const hostOf = (slug: string) => `${slug}.localhost:${here.port}`;

async function signIn(link: string, origin: string): Promise<string> {
  const reply = await takeLink(here.address, link);
  expect(reply.status).toBe(200);
  expect(link.startsWith(origin)).toBe(true);
  const cookie = reply.headers.get('set-cookie') ?? '';
  expect(cookie).toMatch(/; Path=\/; HttpOnly; SameSite=Strict$/);
  expect(cookie).not.toMatch(/domain/i);
  return cookie.split(';')[0] ?? '';
}

async function openApplet(slug: string): Promise<string> {
  const page = { Cookie: cookies.main ?? '', 'Sec-Fetch-Site': 'same-origin' };
  const { status, headers } = await get(`127.0.0.1:${here.port}`, `/applets/${slug}/`, page);
  expect(status).toBe(302);
  return signIn(headers.get('location') ?? '', `http://${hostOf(slug)}`);
}

/** Sends a POST /api/shell as the page of an applet would. */
function from(slug: string, body: object, headers: Record<string, string> = {}): Promise<HttpReply> {
  const own = { Host: hostOf(slug), Origin: `http://${hostOf(slug)}`, Cookie: cookies[slug] ?? '' };
  return rawRequest(here.address, '/api/shell', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...own, ...headers },
    body: JSON.stringify(body),
  });
}

describe('H8: an applet', () => {
  test('may run what it declares, with the fetch call of the specification', async () => {
    const reply = await from('gits', { command: 'git', args: ['--version'] });
    expect(reply).toMatchObject({
      status: 200,
      body: { stdout: expect.stringMatching(/^git version/), code: 0 },
    });
  });

  test('may run nothing else', async () => {
    const reply = await from('gits', { command: 'ls' });
    expect(reply).toMatchObject({
      status: 403,
      body: { error: expect.stringMatching(/ls is not allowed.*applet gits/) },
    });
    expect((await from('gits', { command: 'git', args: ['-c', 'alias.x=!ls', 'x'] })).status).toBe(403);
  });

  test('may not run what the server does not allow, which is a warning at start', async () => {
    expect((await from('lister', { command: 'ls' })).status).toBe(200);
    expect(await from('lister', { command: 'rm', args: ['x'] })).toMatchObject({
      status: 403,
      body: { error: expect.stringContaining('it is not in SHELL_ALLOWLIST') },
    });
    const other = await serve({ args: ['--applets-dir', join(here.cwd, 'applets')] });
    expect(other.stderr()).toMatch(/applet lister asks for rm, which neither SHELL_ALLOWLIST nor/);
    expect(other.stderr()).toMatch(/applet.json of idle has an unknown key icon, which is ignored/);
    expect(await other.close()).toEqual([]);
  });

  test('without permissions runs nothing', async () => {
    for (const command of ['git', 'ls', 'true']) expect((await from('idle', { command })).status).toBe(403);
  });

  test('cannot impersonate another applet or the server', async () => {
    const git = { command: 'git', args: ['--version'] };
    expect(
      (await from('idle', git, { Host: hostOf('gits'), Origin: `http://${hostOf('gits')}` })).status,
    ).toBe(401);
    expect((await from('idle', git, { Host: hostOf('gits') })).status).toBe(401);
    expect((await from('gits', git, { Origin: `http://${hostOf('idle')}` })).status).toBe(403);
    expect((await from('idle', git, { Host: `127.0.0.1:${here.port}`, Origin: here.address })).status).toBe(
      401,
    );
    expect(
      (
        await from(
          'gits',
          { command: 'ls' },
          { Host: `127.0.0.1:${here.port}`, Origin: here.address, Cookie: cookies.main ?? '' },
        )
      ).status,
    ).toBe(200);
    expect(
      (await from('idle', git, { 'X-Applet': 'gits', Authorization: `Bearer ${here.token}` })).status,
    ).toBe(403);
  });

  test('has no tools, no state and no link to another applet', async () => {
    const own = { Cookie: cookies.gits ?? '', 'Sec-Fetch-Site': 'same-origin' };
    for (const path of ['/api/tools', '/api/now', '/api/commands', '/mcp', '/applets/idle/'])
      expect((await get(hostOf('gits'), path, own)).status).toBe(404);
  });

  test('streams commands within its permissions', async () => {
    const address = `http://127.0.0.1:${here.port}`;
    const own = { Host: hostOf('gits'), Origin: `http://${hostOf('gits')}`, Cookie: cookies.gits ?? '' };
    expect(await refusalOf(address, { ...own, Origin: `http://${hostOf('idle')}` })).toBe(403);
    expect(await refusalOf(address, { ...own, Cookie: '' })).toBe(401);
    const socket = await openSocket(address, own);
    socket.send({ type: 'shell.run', id: 'a', command: 'git', args: ['--version'] });
    expect(await socket.exit('a')).toMatchObject({ code: 0 });
    socket.send({ type: 'shell.run', id: 'b', command: 'ls' });
    expect((await socket.error()).error).toMatch(/not allowed/);
    socket.send({ type: 'shell.run', id: 'c', command: 'bash', pty: { cols: 80, rows: 24 } });
    await socket.until(({ id, type }) => id === 'c' && type === 'shell.error');
    await socket.close();
  });
});

describe('H8: the files of an applet', () => {
  test('have a Content-Type and a strict CSP', async () => {
    const page = await get(hostOf('gits'), '/');
    expect(page.body.text).toBe('<p>git');
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    const policy = page.headers.get('content-security-policy') ?? '';
    for (const part of [
      "default-src 'none'",
      "script-src 'self'",
      "connect-src 'self'",
      "frame-ancestors 'none'",
    ])
      expect(policy).toContain(part);
    expect(page.headers.get('cross-origin-resource-policy')).toBe('same-origin');
    expect((await get(hostOf('idle'), '/a.css')).headers.get('content-type')).toBe('text/css; charset=utf-8');
  });

  test.each([
    '/../outside/secret.txt',
    '/%2e%2e/outside/secret.txt',
    '/..%2foutside%2fsecret.txt',
    '/..%5coutside%5csecret.txt',
    '//etc/passwd',
    '/link.txt',
    '/.hidden.txt',
    '/b.exe',
    '/a.css%00.txt',
    '/a.css/',
    '/nothing.html',
    `/${'a/'.repeat(500)}x.txt`,
  ])('cannot be outside its folder: %s', async (path) => {
    for (const slug of ['idle', 'gits']) {
      const { status, body } = await get(hostOf(slug), path);
      expect([400, 404]).toContain(status);
      expect(JSON.stringify(body)).not.toContain('secret"');
    }
  });

  test('are 404 for an unknown applet', async () => {
    expect((await get(hostOf('never'), '/')).status).toBe(404);
  });
});

describe('H8: the list of applets', () => {
  const state = async () => {
    const page = { Cookie: cookies.main ?? '', 'Sec-Fetch-Site': 'same-origin' };
    return (await get(`127.0.0.1:${here.port}`, '/api/server', page)).body as {
      applets: { slug: string; refused: string[] }[];
      problems: string[];
    };
  };

  test('is live, and reports errors in a manifest by file and field', async () => {
    expect((await state()).applets.map(({ slug }) => slug)).toEqual(['gits', 'idle', 'lister']);
    const applets = join(here.cwd, 'applets');
    write(join(applets, 'later'), { 'applet.json': manifest('later', []), 'index.html': 'x' });
    write(join(applets, 'wrong-slug'), { 'applet.json': manifest('other', []) });
    write(join(applets, 'wrong-json'), { 'applet.json': '{' });
    write(join(applets, 'wrong-field'), {
      'applet.json': '{"slug":"wrong-field","permissions":["shell:*  "],"extra":1}',
    });
    write(join(applets, 'wrong-type'), { 'applet.json': '{"slug":5,"permissions":"shell:ls"}' });
    const { applets: now, problems } = await state();
    expect(now.map(({ slug }) => slug)).toContain('later');
    expect(now.find(({ slug }) => slug === 'lister')?.refused).toEqual(['rm']);
    expect(problems).toEqual([
      expect.stringMatching(/wrong-field\/applet\.json: permissions\.0 must be shell:/),
      expect.stringMatching(/wrong-json\/applet\.json is not valid JSON/),
      expect.stringMatching(/wrong-slug\/applet\.json: slug is other, but the folder is wrong-slug/),
      expect.stringMatching(
        /wrong-type\/applet\.json: slug must be a string, not 5; permissions must be a list, not "shell:ls"\.$/,
      ),
    ]);
    expect(existsSync(join(applets, 'later'))).toBe(true);
  });
});

describe('H10: pages', () => {
  test('a link works once, and only at its own origin', async () => {
    const link = String((await here.post('/api/link', {})).body.link);
    const at = async (host: string) =>
      (await takeLink(here.address, link.replace(/127[^/]+/, host), host)).status;
    expect(await at(`localhost:${here.port}`)).toBe(401);
    expect(await at(hostOf('gits'))).toBe(401);
    expect(await at(`127.0.0.1:${here.port}`)).toBe(200);
    expect(await at(`127.0.0.1:${here.port}`)).toBe(401);
  });

  test('a cookie requires the Origin of its page, or Sec-Fetch-Site: same-origin', async () => {
    const send = (headers: Record<string, string>) =>
      get(`127.0.0.1:${here.port}`, '/api/now', { Cookie: cookies.main ?? '', ...headers });
    expect((await send({ 'Sec-Fetch-Site': 'same-origin' })).status).toBe(200);
    expect((await send({ Origin: here.address })).status).toBe(200);
    expect((await send({})).status).toBe(401);
    expect((await send({ 'Sec-Fetch-Site': 'same-site' })).status).toBe(401);
    expect((await send({ Origin: `http://127.0.0.1:1` })).status).toBe(403);
    expect(
      (await send({ Cookie: `nacre_${here.port}=made-up`, 'Sec-Fetch-Site': 'same-origin' })).status,
    ).toBe(401);
  });

  test('/start leads from an applet to the console that opened it', async () => {
    const back = async (host: string, cookie = '') =>
      (await get(host, '/start', { Cookie: cookie })).headers.get('location');
    expect(await back(hostOf('gits'), cookies.gits)).toBe(`${here.address}/`);
    expect(await back(hostOf('gits'))).toBe(`${here.address}/`);
    expect(await back(`127.0.0.1:${here.port}`)).toBe('/');
    // A browser that signed in at localhost has no cookie for 127.0.0.1.
    const local = `localhost:${here.port}`;
    const { body } = await rawRequest(here.address, '/api/link', {
      method: 'POST',
      headers: { Host: local, ...here.bearer },
    });
    const cookie = await signIn(String(body.link), `http://${local}`);
    const page = { Cookie: cookie, 'Sec-Fetch-Site': 'same-origin' };
    const { headers } = await get(local, '/applets/gits/', page);
    const session = await signIn(headers.get('location') ?? '', `http://${hostOf('gits')}`);
    expect(await back(hostOf('gits'), session)).toBe(`http://${local}/`);
  });

  test('an applet redirects to the console without a session', async () => {
    const { status, headers } = await get(`127.0.0.1:${here.port}`, '/applets/gits/');
    expect([status, headers.get('location')]).toEqual([302, '/']);
    const start = await get(`127.0.0.1:${here.port}`, '/');
    expect(start.status).toBe(200);
    expect(start.headers.get('content-security-policy')).toContain("script-src 'self'");
  });
});
