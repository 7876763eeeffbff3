import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connect, type ServerOptions } from '../support/mcp.ts';
import type { McpServer } from './shared-servers.ts';

// Not below /tmp, because a sandbox mounts its own tserver.
const folder = realpathSync(mkdtempSync('/var/tmp/nacre-roots-'));
for (const name of ['one', 'two']) mkdirSync(join(folder, name));
const open: McpServer[] = [];
afterAll(async () => {
  const left = await Promise.all(open.map((server) => server.close()));
  rmSync(folder, { recursive: true });
  expect(left.flat()).toEqual([]);
});
const serve = async (options: ServerOptions) => {
  const env = { ALLOWED_COMMANDS: '*', NACRE_SANDBOX: 'workspace', ...options.env };
  const server = await connect({ ...options, env });
  open.push(server);
  return server;
};
const uriOf = (name: string) => pathToFileURL(join(folder, name)).href;
/** Tries to write into both folders and returns the names of those where it succeeded. */
const written = async ({ call }: McpServer, more = {}) => {
  await call({ command: `touch ${folder}/one/x; touch ${folder}/two/x`, cwd: folder, ...more });
  const found = ['one', 'two'].filter((name) => existsSync(join(folder, name, 'x')));
  for (const name of found) rmSync(join(folder, name, 'x'));
  return found;
};

describe.each(['2025-06-18', '2025-11-25'] as const)('the workspace for a client of MCP %s', (era) => {
  let roots: readonly string[] | Promise<readonly string[]>;
  let server: McpServer;
  beforeAll(async () => {
    server = await serve({ era, roots: () => roots });
  });
  const changeRoots = async (to: typeof roots) => {
    roots = to;
    await server.client.sendRootsListChanged();
  };

  test('is the list of roots it offers, and follows their changes', async () => {
    roots = [uriOf('one'), 'file://elsewhere/project', uriOf('gone')];
    expect(await written(server)).toEqual(['one']);
    await changeRoots([uriOf('two')]);
    await expect.poll(() => written(server)).toEqual(['two']);
  });

  test('is not the root directory', async () => {
    await changeRoots(['file:///']);
    const check = async () => (await server.call({ command: 'true', cwd: folder })).structured;
    await expect.poll(check).toMatchObject({
      code: 'isolation_unavailable',
      hint: expect.stringContaining('workspace'),
    });
  });
});

describe('the workspace of a sandbox', () => {
  test('is the working directory if a client does not answer roots/list', async () => {
    const server = await serve({ roots: () => new Promise(() => {}) });
    expect(await written(server, { cwd: join(folder, 'one') })).toEqual(['one']);
  });

  test('is the one in the settings, even if a client offers roots', async () => {
    const env = { NACRE_WORKSPACE: join(folder, 'two') };
    expect(await written(await serve({ env, roots: () => [uriOf('one')] }))).toEqual(['two']);
  });

  test('does not extend beyond ALLOWED_CWD_ROOTS', async () => {
    const env = { ALLOWED_CWD_ROOTS: join(folder, 'two') };
    const server = await serve({ env, roots: () => [uriOf('one'), uriOf('two')] });
    expect(await written(server, { cwd: join(folder, 'two') })).toEqual(['two']);
  });
});

describe('a call', () => {
  test('may request a stricter sandbox and lower limits, but not looser ones', async () => {
    const server = await serve({ env: { NACRE_SANDBOX: 'off', NACRE_CPU_SECONDS: '60' } });
    const cwd = join(folder, 'one');
    expect(await written(server, { cwd, sandbox: 'strict' })).toEqual(['one']);
    const burn = { command: 'while :; do :; done', cwd, limits: { cpu_seconds: 1 } };
    expect((await server.call(burn)).structured.error).toContain('CPU time exhausted');
    const refused = await server.call({ command: 'touch x', cwd, limits: { cpu_seconds: 61 } });
    expect(refused.structured).toMatchObject({
      code: 'invalid_request',
      error: expect.stringContaining('cpu_seconds 61 is more than the 60'),
    });
    expect(existsSync(join(cwd, 'x'))).toBe(false);
  });

  test('cannot request a looser sandbox than the settings', async () => {
    const server = await serve({ args: ['--sandbox', 'strict'] });
    const { structured } = await server.call({ command: 'touch x', cwd: folder, sandbox: 'workspace' });
    expect(structured).toMatchObject({
      code: 'invalid_request',
      error: expect.stringContaining('workspace is looser than strict'),
    });
    expect(existsSync(join(folder, 'x'))).toBe(false);
  });
});

test('E2: the first line on stderr reports supervision, sandbox and network', async () => {
  const server = await serve({});
  await expect
    .poll(server.stderr, { timeout: 10_000 })
    .toMatch(/^nacre: ready: supervision namespace, sandbox workspace, network off/);
});
