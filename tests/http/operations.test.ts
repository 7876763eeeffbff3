import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
// @ts-expect-error: pages are plain JavaScript.
import { toCurl, toFetch } from '../../src/doors/http/pages/samples.js';
import { rawRequest, serve, type TestServer } from '../support/http.ts';
import { sleep } from '../support/nacre.ts';

interface Described {
  readonly schema: object;
  readonly example: Readonly<Record<string, unknown>>;
}
interface Operation {
  readonly parameters?: readonly { readonly name: string; readonly example: string }[];
  readonly requestBody?: { readonly content: { readonly 'application/json': Described } };
}

const run = async (program: string, args: readonly string[]) =>
  (await promisify(execFile)(program, args, { env: { PATH: process.env.PATH } })).stdout;

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

  const operations = async () => {
    const { body } = await here.send('/openapi.json');
    const paths = body.paths as Record<string, Record<string, Operation> & { security?: unknown[] }>;
    return Object.entries(paths).flatMap(([path, { security, ...methods }]) =>
      Object.entries(methods)
        .filter(([method]) => method === 'get' || method === 'post')
        .map(([method, { requestBody, parameters = [] }]) => ({
          address: here.address,
          path,
          method,
          headers: Object.fromEntries(parameters.map(({ name, example }) => [name, example])),
          body: requestBody?.content['application/json'].example,
          schema: requestBody?.content['application/json'].schema,
          isOpen: security?.length === 0,
        })),
    );
  };

  test('every request body and message in /openapi.json has an example that matches its schema', async () => {
    const ajv = new Ajv2020({ strict: false });
    const all = await operations();
    for (const { path, body, schema } of all)
      if (schema !== undefined) expect(ajv.validate(schema, body), `${path} ${ajv.errorsText()}`).toBe(true);
    const { body } = await here.send('/openapi.json');
    const stream = (
      body.paths as Record<string, { 'x-messages': Record<string, Record<string, Described>> }>
    )['/api/shell/stream']?.['x-messages'];
    const messages = Object.values(stream ?? {}).flatMap((group) => Object.entries(group));
    expect(messages).toHaveLength(12);
    for (const [type, { schema, example }] of messages) {
      const { type: named, ...fields } = example;
      expect([named, ajv.validate(schema, fields), ajv.errorsText()]).toEqual([type, true, 'No errors']);
    }
  });

  test('the examples of /docs work as they are: curl in a shell, fetch in a program', async () => {
    // A WebSocket, paths that need an id, and calls that change the server have no example to run.
    const others = /stream$|\/api\/(?:console|pause|session)$|\{/;
    const calls = (await operations()).filter(({ path }) => !others.test(path));
    expect(calls.length).toBeGreaterThan(15);
    const check = async (call: (typeof calls)[number]) => {
      const curl = await run('bash', ['-c', `TOKEN=${here.token}; ${toCurl(call)} -w '\\n%{http_code}'`]);
      expect(curl.trimEnd().split('\n').at(-1), toCurl(call)).toBe('200');
    };
    await Promise.all(calls.map(check));
    for (const call of calls.filter(({ path }) => /shell$|now|healthz|mcp|link/.test(path))) {
      const program = `const token = '${here.token}';\n${toFetch(call)}`;
      expect(await run(process.execPath, ['--input-type=module', '-e', program])).toMatch(/^200 /);
    }
  }, 60_000);

  test('/docs loads nothing from other hosts', async () => {
    const { body, status } = await here.send('/docs');
    expect(status).toBe(200);
    expect(body.text).not.toMatch(/https?:/);
    expect((await here.send('/assets/docs.js')).status).toBe(200);
    expect((await here.send('/assets/serve.ts')).status).toBe(404);
  });

  test('H10: attempts without a token are recorded in the audit log, repeated ones at a limited rate', async () => {
    for (let tries = 0; tries < 30; tries += 1) await here.send('/api/now');
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
      const { commands } = (await named.send('/api/commands', { headers })).body as {
        commands: { command: string }[];
      };
      return commands.map(({ command }) => command);
    };
    const server = (headers: Record<string, string>) => named.send('/api/server', { headers });
    await expect.poll(() => commandsOf(named.bearer)).toEqual(['ls', 'git --version']);
    expect(await commandsOf(other)).toEqual(['ls']);
    expect((await server(other)).status).toBe(403);
    expect((await server(named.bearer)).body.problems).toEqual([
      expect.stringMatching(/applets_dir.*nowhere/),
    ]);
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
