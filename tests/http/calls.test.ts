import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { serve, type TestServer } from '../support/http.ts';
import { createPlace, endOf, sleep, startReal, survivors } from '../support/nacre.ts';
import { processesWith } from '../support/processes.ts';
import { soakCount } from '../support/soak.ts';

const allowAll = { SHELL_ALLOWLIST: '*', ALLOWED_COMMANDS: '*', NACRE_TOOLS: 'all', NACRE_DRAIN_MS: '0' };
let here: TestServer;
beforeAll(async () => {
  here = await serve({ env: allowAll });
});
afterAll(async () => expect(await here.close()).toEqual([]));

const until = async (condition: () => boolean) => {
  for (let tries = 0; tries < 1_500 && !condition(); tries += 1) await sleep(10);
  expect(condition()).toBe(true);
};

describe('H2: simultaneous calls', () => {
  let narrow: TestServer;
  beforeAll(async () => {
    const limits = { NACRE_HTTP_MAX_RUNNING: '1', NACRE_HTTP_MAX_QUEUED: '2' };
    narrow = await serve({ env: { ...allowAll, ...limits } });
  });
  afterAll(async () => expect(await narrow.close()).toEqual([]));

  test('are all served, even many', { timeout: 120_000 }, async () => {
    const count = soakCount(200, 60);
    const replies = await Promise.all(Array.from({ length: count }, () => here.shell('true')));
    expect(replies.filter(({ status, body }) => status !== 200 || body.code !== 0)).toEqual([]);
  });

  test('wait in a queue, and those beyond its limit get 429 with Retry-After', async () => {
    const replies = await Promise.all(Array.from({ length: 6 }, () => narrow.shell('sleep', ['0.2'])));
    const refused = replies.filter(({ status }) => status === 429);
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(3);
    expect(refused).toHaveLength(3);
    for (const { headers, body } of refused) {
      expect(headers.get('retry-after')).toBe('1');
      expect(body.error).toMatch(/already waiting/);
    }
    expect((await narrow.shell('true')).status).toBe(200);
  });

  test('end when their callers disconnect, also while they wait', async () => {
    const { address, bearer, cwd } = narrow;
    const call = (script: string) => {
      const leave = new AbortController();
      const headers = { ...bearer, 'Content-Type': 'application/json' };
      const body = JSON.stringify({ command: 'sh', args: ['-c', script, `mark-${cwd}`] });
      const reply = fetch(`${address}/api/shell`, { method: 'POST', headers, body, signal: leave.signal });
      return { leave, gone: expect(reply).rejects.toThrow() };
    };
    const first = call('echo > begun; sleep 100; sleep 100');
    await until(() => existsSync(join(cwd, 'begun')));
    const second = call('echo > never');
    await sleep(50);
    second.leave.abort();
    await second.gone;
    first.leave.abort();
    await first.gone;
    await until(() => processesWith(`mark-${cwd}`).length === 0);
    expect(existsSync(join(cwd, 'never'))).toBe(false);
    expect((await narrow.shell('true')).status).toBe(200);
  });
});

describe('/api/tools', () => {
  test('lists the tools with their schemas and calls them', async () => {
    const { send, post, bearer } = here;
    const { tools } = (await send('/api/tools', { headers: bearer })).body as { tools: { name: string }[] };
    expect(tools.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['execute_command', 'shell_execute', 'Bash']),
    );
    const reply = await post('/api/tools/execute_command', { command: 'echo hello | tr h j' });
    expect(reply).toMatchObject({
      status: 200,
      body: { is_error: false, result: { exit_code: 0, stdout: 'jello\n' } },
    });
    const wrong = await post('/api/tools/Bash', { comand: 'ls' });
    expect(wrong).toMatchObject({
      status: 200,
      body: { is_error: true, text: expect.stringMatching(/comand/) },
    });
    expect((await post('/api/tools/nothing', {})).body.error).toMatch(/no tool "nothing".*execute_command/);
    expect((await send('/api/tools')).status).toBe(401);
  });

  test('keeps a persistent shell for its caller', async () => {
    await here.post('/api/tools/Bash', { command: 'cd /usr && word=kept' });
    const { body } = await here.post('/api/tools/Bash', { command: 'echo $word $PWD' });
    expect(body.text).toContain('kept /usr');
  });
});

describe('a shutdown', () => {
  test('waits for open calls, refuses new ones, and logs how many finished', async () => {
    const { address, shell, interrupt, ended, stderr, mark } = await serve({ env: allowAll });
    const slow = shell('sleep', ['0.5']);
    await sleep(200);
    interrupt('SIGTERM');
    expect((await slow).status).toBe(200);
    expect((await ended).code).toBe(0);
    expect(stderr()).toContain('ended: 1 of 1 open calls were finished.');
    await expect(fetch(`${address}/healthz`)).rejects.toThrow();
    expect(await survivors(mark)).toEqual([]);
  });

  test('kills commands that do not finish in time', async () => {
    const server = await serve({ env: { ...allowAll, NACRE_SHUTDOWN_MS: '100' } });
    const { shell, interrupt, ended, stderr, cwd, mark } = server;
    writeFileSync(join(cwd, 'stay.sh'), "trap '' TERM; sleep 100; sleep 100");
    const stuck = shell('sh', ['stay.sh', cwd]).catch(() => undefined);
    await until(() => processesWith(`stay.sh\0${cwd}`).length > 0);
    interrupt('SIGTERM');
    await ended;
    await stuck;
    expect(stderr()).toContain('ended: 0 of 1 open calls were finished.');
    expect(await survivors(mark)).toEqual([]);
  });

  test('of the built server follows SIGTERM, and leaves no process behind', async () => {
    const place = createPlace({ SHELL_ALLOWLIST: '*' });
    const child = startReal(['serve', '--port', '0'], place);
    const lines = await new Promise<string>((resolve) =>
      child.stdout.once('data', (data) => resolve(String(data))),
    );
    expect(lines).toMatch(/^nacre \S+ serves on http:\/\/127\.0\.0\.1:\d+\n/);
    const [, address = ''] = /serves on (\S+)/.exec(lines) ?? [];
    const [, token = ''] = /shown once\): (\S+)/.exec(lines) ?? [];
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
    const body = JSON.stringify({ command: 'sh', args: ['-c', 'setsid sleep 300 & echo hi'] });
    const reply = await fetch(`${address}/api/shell`, { method: 'POST', headers, body });
    expect(await reply.json()).toMatchObject({ stdout: 'hi\n', code: 0 });
    expect(await (await fetch(`${address}/healthz`)).json()).toMatchObject({ status: 'ok' });
    expect(await (await fetch(`${address}/readyz`)).json()).toEqual({ status: 'ready' });
    child.kill('SIGTERM');
    expect((await endOf(child)).code).toBe(0);
    expect(await survivors(place.mark)).toEqual([]);
  });
});
