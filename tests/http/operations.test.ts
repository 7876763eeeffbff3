import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { rawRequest, serve, type TestServer } from '../support/http.ts';
import { sleep } from '../support/nacre.ts';

let here: TestServer;
beforeAll(async () => {
  here = await serve({ env: { NACRE_TOOLS: 'all', ALLOWED_COMMANDS: '*' } });
});
afterAll(async () => expect(await here.close()).toEqual([]));

describe('operations', () => {
  test('S7: /metrics serves figures in the Prometheus text format, to callers with a token', async () => {
    await here.shell('git', ['--version']);
    await here.shell('rm');
    expect((await here.send('/metrics')).status).toBe(401);
    const { body, headers } = await here.send('/metrics', { headers: here.bearer });
    expect(headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(body.text).toContain('nacre_commands_total{outcome="completed",program="git",door="http"} 1\n');
    expect(body.text).toMatch(/^nacre_http_answers_total\{status="403"\} 1$/m);
    expect(body.text).toMatch(/^nacre_http_calls\{state="running"\} 0$/m);
  });

  test('/openapi.json is OpenAPI 3.1 with the schemas that validate requests', async () => {
    const { body } = await here.send('/openapi.json');
    expect(body).toMatchObject({ openapi: '3.1.0', servers: [{ url: here.address }] });
    const paths = body.paths as Record<
      string,
      { post?: { requestBody: { content: Record<string, { schema: object }> } } }
    >;
    const schemaOf = (path: string) =>
      paths[path]?.post?.requestBody.content['application/json']?.schema ?? false;
    const checks = (path: string) => new Ajv2020({ strict: false }).compile(schemaOf(path));
    expect(checks('/api/shell')({ command: 'git', args: ['status'], cwd: '/tmp' })).toBe(true);
    expect(checks('/api/shell')({ args: [] })).toBe(false);
    expect(checks('/api/shell')({ command: 'git', more: 1 })).toBe(false);
    expect(checks('/api/tools/execute_command')({ command: 'ls' })).toBe(true);
    expect(Object.keys(paths)).toEqual(
      expect.arrayContaining(['/api/tools/Bash', '/api/tools/shell_execute', '/mcp']),
    );
  });

  test('/docs loads nothing from other hosts', async () => {
    const { body, status } = await here.send('/docs');
    expect(status).toBe(200);
    expect(body.text).not.toMatch(/https?:/);
    expect((await here.send('/assets/docs.js')).status).toBe(200);
    expect((await here.send('/assets/serve.ts')).status).toBe(404);
  });

  test('H10: attempts without a token are recorded in the audit log, repeated ones at a limited rate', async () => {
    for (let tries = 0; tries < 30; tries += 1) await here.send('/api/state');
    const dir = join(here.cwd, '.local', 'state', 'nacre', 'audit');
    const lines = () =>
      readdirSync(dir, { recursive: true, withFileTypes: true })
        .filter((one) => one.isFile())
        .flatMap((one) => readFileSync(join(one.parentPath, one.name), 'utf8').split('\n'))
        .filter((line) => line.includes('"unknown_caller"'));
    for (let tries = 0; tries < 500 && lines().length === 0; tries += 1) await sleep(10);
    expect(lines().length).toBeGreaterThan(0);
    expect(lines().length).toBeLessThanOrEqual(11);
    expect(lines()[0]).toContain('no token');
  });

  test('H10: a named token sees only its own commands, and opens no pages', async () => {
    const sha256 = createHash('sha256').update('the-token-of-another').digest('hex');
    const named = await serve({
      args: ['--applets-dir', 'nowhere'],
      userFile: `tokens:\n  - { name: other, sha256: ${sha256} }\n`,
    });
    const other = { Authorization: 'Bearer the-token-of-another' };
    await named.shell('git', ['--version']);
    await named.post('/api/shell', { command: 'ls' }, other);
    const commandsOf = async (headers: Record<string, string>) => {
      const { recent } = (await named.send('/api/state', { headers })).body as {
        recent: { command: string }[];
      };
      return recent.map(({ command }) => command);
    };
    const problemsOf = async (headers: Record<string, string>) =>
      (await named.send('/api/state', { headers })).body.problems;
    expect(await commandsOf(other)).toEqual(['ls']);
    expect(await problemsOf(other)).toEqual([]);
    expect(await problemsOf(named.bearer)).toEqual([expect.stringMatching(/applets_dir.*nowhere/)]);
    expect(await commandsOf(named.bearer)).toEqual(['ls', 'git --version']);
    expect((await named.post('/api/link', {}, other)).status).toBe(403);
    expect((await named.send('/applets/any/', { headers: other })).status).toBe(403);
    expect(await named.close()).toEqual([]);
  });
});

describe('H8: with applet_origins: port', () => {
  test('an applet has its own port, and a cookie that is valid only there', async () => {
    const other = await serve({ args: ['--applets-dir', 'applets', '--applet-origins', 'port'] });
    for (const [slug, permission] of [
      ['gits', 'shell:git'],
      ['lister', 'shell:ls'],
    ] as const) {
      mkdirSync(join(other.cwd, 'applets', slug), { recursive: true });
      writeFileSync(
        join(other.cwd, 'applets', slug, 'applet.json'),
        JSON.stringify({ slug, permissions: [permission] }),
      );
      writeFileSync(join(other.cwd, 'applets', slug, 'index.html'), slug);
    }
    const open = async (slug: string) => {
      const reply = await fetch(`${other.address}/applets/${slug}/`, {
        headers: other.bearer,
        redirect: 'manual',
      });
      const link = reply.headers.get('location') ?? '';
      const { origin, pathname, search } = new URL(link);
      const opened = await rawRequest(origin, `${pathname}${search}`);
      return { origin, cookie: opened.headers.get('set-cookie')?.split(';')[0] ?? '' };
    };
    const [gits, lister] = [await open('gits'), await open('lister')];
    expect(gits.origin).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(new Set([gits.origin, lister.origin, other.address]).size).toBe(3);
    expect((await open('gits')).origin).toBe(gits.origin);
    expect((await rawRequest(gits.origin, '/')).body.text).toBe('gits');
    const run = (origin: string, cookies: string, command: string) =>
      rawRequest(origin, '/api/shell', {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', Origin: origin, Cookie: cookies },
        body: JSON.stringify({ command, args: ['--version'] }),
      });
    // A browser sends both cookies to both ports.
    const both = `${gits.cookie}; ${lister.cookie}`;
    expect((await run(gits.origin, both, 'git')).status).toBe(200);
    expect((await run(gits.origin, both, 'ls')).status).toBe(403);
    expect((await run(lister.origin, both, 'ls')).status).toBe(200);
    expect((await run(lister.origin, gits.cookie, 'git')).status).toBe(401);
    expect((await run(other.address, both, 'git')).status).toBe(401);
    expect(await other.close()).toEqual([]);
  });
});
