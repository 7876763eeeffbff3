import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { connect, type ServerOptions } from '../support/mcp.ts';
import type { McpServer } from './shared-servers.ts';

const open: McpServer[] = [];
const folders: string[] = [];
afterAll(async () => {
  const left = await Promise.all(open.map((server) => server.close()));
  for (const folder of folders) rmSync(folder, { recursive: true });
  expect(left.flat()).toEqual([]);
});

async function serve(options: ServerOptions) {
  const env = { ALLOWED_COMMANDS: '*', NACRE_SANDBOX: 'workspace', ...options.env };
  const server = await connect({ ...options, env });
  open.push(server);
  return server;
}

/** Creates a folder with `one` and `two` in it; not below /tmp, because a sandbox mounts its own there. */
function createFolders() {
  const folder = realpathSync(mkdtempSync('/var/tmp/nacre-roots-'));
  folders.push(folder);
  for (const name of ['one', 'two']) mkdirSync(join(folder, name));
  const uriOf = (name: string) => pathToFileURL(join(folder, name)).href;
  /** Tries to write into both folders and returns the names of those where it succeeded. */
  const written = async ({ call }: McpServer, more = {}) => {
    await call({ command: `touch ${folder}/one/x; touch ${folder}/two/x`, ...more });
    const found = ['one', 'two'].filter((name) => existsSync(join(folder, name, 'x')));
    for (const name of found) rmSync(join(folder, name, 'x'));
    return found;
  };
  return { folder, uriOf, written };
}

describe.concurrent('the workspace of a sandbox', () => {
  test.for(['2025-06-18', '2025-11-25'] as const)(
    'is the list of roots that a client of MCP %s offers, follows their changes, and is not the root directory',
    async (era, { expect }) => {
      const { uriOf, written } = createFolders();
      let roots = [uriOf('one'), 'file://elsewhere/project', uriOf('gone')];
      const server = await serve({ era, roots: () => roots });
      expect(await written(server)).toEqual(['one']);
      roots = [uriOf('two')];
      await server.client.sendRootsListChanged();
      await expect.poll(() => written(server)).toEqual(['two']);
      roots = ['file:///'];
      await server.client.sendRootsListChanged();
      const check = async () => (await server.call({ command: 'true' })).structured;
      await expect.poll(check).toMatchObject({
        code: 'isolation_unavailable',
        hint: expect.stringContaining('workspace'),
      });
    },
  );

  test('is the working directory if a client does not answer roots/list', async () => {
    const { folder, written } = createFolders();
    const server = await serve({ roots: () => new Promise(() => {}) });
    expect(await written(server, { cwd: join(folder, 'one') })).toEqual(['one']);
  });

  test('is the one in the settings, even if a client offers roots', async () => {
    const { folder, uriOf, written } = createFolders();
    const env = { NACRE_WORKSPACE: join(folder, 'two') };
    expect(await written(await serve({ env, roots: () => [uriOf('one')] }))).toEqual(['two']);
  });

  test('E2: does not extend beyond ALLOWED_CWD_ROOTS, and is reported with supervision and network on stderr', async ({
    expect,
  }) => {
    const { folder, uriOf, written } = createFolders();
    const env = { ALLOWED_CWD_ROOTS: join(folder, 'two') };
    const server = await serve({ env, roots: () => [uriOf('one'), uriOf('two')] });
    expect(await written(server, { cwd: join(folder, 'two') })).toEqual(['two']);
    await expect
      .poll(server.stderr, { timeout: 10_000 })
      .toMatch(/^nacre: ready: supervision namespace, sandbox workspace, network off/);
  });
});

describe.concurrent('the directory of a call without cwd', () => {
  test.for(['off', 'workspace', 'strict'] as const)(
    'is the first root of the client, with sandbox %s, and what it writes there is kept',
    async (sandbox, { expect }) => {
      const { folder, uriOf } = createFolders();
      let roots = [uriOf('gone'), uriOf('one'), uriOf('two')];
      const server = await serve({ env: { NACRE_SANDBOX: sandbox }, roots: () => roots });
      const { structured } = await server.call({ command: 'echo precious > note.txt && pwd' });
      expect(structured).toMatchObject({ exit_code: 0, stdout: `${join(folder, 'one')}\n` });
      expect(readFileSync(join(folder, 'one', 'note.txt'), 'utf8')).toBe('precious\n');
      mkdirSync(join(folder, 'one', 'below'));
      const below = await server.call({ command: 'pwd', cwd: 'below' });
      expect(below.structured.stdout).toBe(`${join(folder, 'one', 'below')}\n`);
      roots = [uriOf('gone')];
      await server.client.sendRootsListChanged();
      const check = async () => (await server.call({ command: 'touch lost' })).structured;
      await expect.poll(check).toMatchObject({ code: 'cwd_invalid', error: expect.stringContaining('gone') });
    },
  );

  test('is the first root in a persistent shell, too, and follows them when they change', {
    timeout: 60_000,
  }, async ({ expect }) => {
    const { folder, uriOf } = createFolders();
    let roots = [uriOf('one')];
    const server = await serve({ args: ['--tools', 'bash'], roots: () => roots });
    const bash = async (command: string) => (await server.use('Bash', { command })).text;
    expect(await bash('pwd; echo a > kept')).toContain(join(folder, 'one'));
    expect(readFileSync(join(folder, 'one', 'kept'), 'utf8')).toBe('a\n');
    expect(await bash('mkdir /tmp/mine && cd /tmp/mine && echo b > kept')).not.toContain('rror');
    expect(await bash('pwd; cat kept')).toContain('/tmp/mine\nb');
    await bash(`cd ${folder}/one`);
    roots = [uriOf('two')];
    await server.client.sendRootsListChanged();
    await expect.poll(() => bash(`touch ${folder}/one/no 2>&1`)).toMatch(/Read-only/);
    expect(await bash(`cd ${folder}/two && touch yes && echo ok`)).toContain('ok');
    expect([existsSync(join(folder, 'one', 'no')), existsSync(join(folder, 'two', 'yes'))]).toEqual([
      false,
      true,
    ]);
  });
});

describe.concurrent('a call outside of the workspace', () => {
  test('is refused instead of writing into nothing', async ({ expect }) => {
    const { folder, uriOf } = createFolders();
    const server = await serve({ roots: () => [uriOf('one')] });
    for (const cwd of [folder, join(folder, 'two'), '/tmp', '/usr']) {
      const { structured } = await server.call({ command: 'echo precious > note.txt', cwd });
      expect(structured).toMatchObject({
        code: 'cwd_invalid',
        hint: expect.stringContaining(join(folder, 'one')),
      });
    }
  });
});

describe.concurrent('a call', () => {
  test('may request a stricter sandbox and lower limits, but not looser ones', async () => {
    const { folder, written } = createFolders();
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
    const { folder } = createFolders();
    const server = await serve({ args: ['--sandbox', 'strict'] });
    const { structured } = await server.call({ command: 'touch x', cwd: folder, sandbox: 'workspace' });
    expect(structured).toMatchObject({
      code: 'invalid_request',
      error: expect.stringContaining('workspace is looser than strict'),
    });
    expect(existsSync(join(folder, 'x'))).toBe(false);
  });
});
