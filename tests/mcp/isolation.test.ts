import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { connect, type ServerOptions } from '../support/mcp.ts';

type Connection = Awaited<ReturnType<typeof connect>>;
let open: Connection | undefined;
// Not below /tmp, which a sandbox replaces by one of its own.
let folder = '';
beforeEach(() => {
  folder = realpathSync(mkdtempSync('/var/tmp/nacre-roots-'));
  for (const name of ['one', 'two']) mkdirSync(join(folder, name));
});
afterEach(async () => {
  expect(await open?.close()).toEqual([]);
  open = undefined;
  rmSync(folder, { recursive: true });
});
const serve = async (options: ServerOptions) => {
  const env = { ALLOWED_COMMANDS: '*', NACRE_SANDBOX: 'workspace', ...options.env };
  open = await connect({ ...options, env });
  return open;
};
const address = (name: string) => pathToFileURL(join(folder, name)).href;
/** Tries to write into both folders and tells where it could. */
const written = async ({ call }: Connection, more = {}) => {
  await call({ command: `touch ${folder}/one/x; touch ${folder}/two/x`, cwd: folder, ...more });
  const found = ['one', 'two'].filter((name) => existsSync(join(folder, name, 'x')));
  for (const name of found) rmSync(join(folder, name, 'x'));
  return found;
};

describe('the workspace of a sandbox', () => {
  test.each(['2025-06-18', '2025-11-25'] as const)(
    'is what a client of %s offers as its roots, and follows their changes',
    async (era) => {
      let roots = [address('one'), 'file://elsewhere/project', address('gone')];
      const here = await serve({ era, roots: () => roots });
      expect(await written(here)).toEqual(['one']);
      roots = [address('two')];
      await here.client.sendRootsListChanged();
      await expect.poll(() => written(here)).toEqual(['two']);
    },
  );

  test('is the working directory where a client offers none, or does not tell them', async () => {
    const here = await serve({ roots: () => new Promise(() => {}) });
    expect(await written(here, { cwd: join(folder, 'one') })).toEqual(['one']);
  });

  test('is what the settings name, whatever a client offers', async () => {
    const env = { NACRE_WORKSPACE: join(folder, 'two') };
    expect(await written(await serve({ env, roots: () => [address('one')] }))).toEqual(['two']);
  });

  test('does not reach beyond ALLOWED_CWD_ROOTS', async () => {
    const env = { ALLOWED_CWD_ROOTS: join(folder, 'two') };
    const here = await serve({ env, roots: () => [address('one'), address('two')] });
    expect(await written(here, { cwd: join(folder, 'two') })).toEqual(['two']);
  });

  test('is not the machine itself', async () => {
    const here = await serve({ roots: () => ['file:///'] });
    const { structured } = await here.call({ command: 'true', cwd: folder });
    expect(structured).toMatchObject({
      code: 'isolation_unavailable',
      hint: expect.stringContaining('workspace'),
    });
  });
});

describe('a call', () => {
  test('may ask for a stricter sandbox and lower limits, and for nothing looser', async () => {
    const here = await serve({ env: { NACRE_SANDBOX: 'off', NACRE_CPU_SECONDS: '60' } });
    const cwd = join(folder, 'one');
    expect(await written(here, { cwd, sandbox: 'strict' })).toEqual(['one']);
    const burn = { command: 'while :; do :; done', cwd, limits: { cpu_seconds: 1 } };
    expect((await here.call(burn)).structured.error).toContain('ended by a limit');
    const refused = await here.call({ command: 'touch x', cwd, limits: { cpu_seconds: 61 } });
    expect(refused.structured).toMatchObject({
      code: 'invalid_request',
      error: expect.stringContaining('cpu_seconds 61 is more than the 60'),
    });
    expect(existsSync(join(cwd, 'x'))).toBe(false);
  });

  test('cannot leave the sandbox of the settings', async () => {
    const here = await serve({ args: ['--sandbox', 'strict'] });
    const { structured } = await here.call({ command: 'touch x', cwd: folder, sandbox: 'workspace' });
    expect(structured).toMatchObject({
      code: 'invalid_request',
      error: expect.stringContaining('workspace is looser than strict'),
    });
    expect(existsSync(join(folder, 'x'))).toBe(false);
  });
});

test('E2: the server says on its first line how commands are supervised, and what they have of the network', async () => {
  const here = await serve({});
  await expect
    .poll(here.stderr, { timeout: 10_000 })
    .toMatch(/^nacre: ready: supervision namespace, sandbox workspace, network off/);
});
