import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ServerStatus } from '../../src/servers/server-status.ts';
import { serve, type TestServer } from '../support/http.ts';
import { connect } from '../support/mcp.ts';
import { createPlace, type Place, runInProcess } from '../support/nacre.ts';

let http: TestServer;
let mcp: Awaited<ReturnType<typeof connect>>;
beforeAll(async () => {
  http = await serve({ args: ['--preset', 'read-only'] });
  mcp = await connect({ env: { ALLOWED_COMMANDS: 'sleep,touch', HOME: http.cwd } });
});
afterAll(async () => {
  expect(await mcp.close()).toEqual([]);
  expect(await http.close()).toEqual([]);
});

const read = async (place: Place): Promise<readonly ServerStatus[]> =>
  JSON.parse((await runInProcess(['status', '--json'], place)).stdout);
const statusOf = async (door: string) => (await read(http)).find((one) => one.door === door);

describe('nacre status', () => {
  it('shows every server with its door, address, rules, sandbox and clients', async () => {
    await expect.poll(() => read(http).then((all) => all.length), { timeout: 30_000 }).toBe(2);
    expect(await statusOf('http')).toMatchObject({
      pid: process.pid,
      address: http.address,
      cwd: http.cwd,
      preset: 'read-only',
      allowed: expect.arrayContaining(['cat', 'ls']),
      sandbox: 'off',
      network: 'on',
      problem: null,
      running: 0,
    });
    const mcpStatus = await statusOf('mcp');
    expect(mcpStatus).toMatchObject({
      address: null,
      preset: null,
      allowed: ['sleep', 'touch'],
      apps_allowed: null,
    });
    expect(mcpStatus?.clients).toHaveLength(1);
    expect(mcpStatus?.pid).not.toBe(process.pid);
    expect(Date.parse(mcpStatus?.started_at ?? '')).toBeLessThan(Date.now());
  });

  it('names clients over HTTP while they are connected', async () => {
    expect((await http.post('/api/shell', { command: 'ls' })).status).toBe(200);
    const url = new URL(http.mcp);
    const requestInit = { headers: { Authorization: `Bearer ${http.token}` } };
    const transport = new StreamableHTTPClientTransport(url, { requestInit });
    const client = new Client({ name: 'my\u001b[31magent', version: '1' });
    await client.connect(transport);
    expect((await statusOf('http'))?.clients).toEqual(['my\u001b[31magent', 'token']);
    expect((await runInProcess(['status'], http)).stdout).toContain('my\\u{1b}[31magent, token');
    await transport.terminateSession();
    await client.close();
    await expect.poll(async () => (await statusOf('http'))?.clients).toEqual(['token']);
  });

  it('counts commands that a call waits for', async () => {
    const call = mcp.call({ command: 'touch begun; sleep 60', timeout_ms: 50_000 });
    await expect.poll(() => existsSync(join(mcp.cwd, 'begun')), { timeout: 30_000 }).toBe(true);
    expect((await statusOf('mcp'))?.running).toBe(1);
    await runInProcess(['pause'], http);
    await call;
    expect((await runInProcess(['status'], http)).stdout).toContain('nacre is paused');
    await runInProcess(['resume'], http);
  });

  it('prints a table for people and scripts', async () => {
    const { stdout, code } = await runInProcess(['status'], http);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^PID +DOOR +RUNNING +SANDBOX +CLIENTS +ADDRESS +SINCE +ALLOWED\n/);
    expect(stdout).toMatch(
      /^\d+ +http +0 +off .* http:\/\/127\.0\.0\.1:\d+ .* agents: preset read-only; apps: git, .*$/m,
    );
    expect(stdout).toMatch(/^\d+ +mcp .* - .* sleep, touch$/m);
  });

  it('says what to do if no server is running', async () => {
    const place = createPlace();
    expect(await runInProcess(['status'], place)).toEqual({
      code: 0,
      stdout:
        'No server is running.\nnacre init CLIENT lets an agent start one, and nacre serve starts one for apps.\n',
      stderr: '',
    });
    expect(await read(place)).toEqual([]);
    rmSync(place.cwd, { recursive: true });
  });
});
