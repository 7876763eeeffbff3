import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { serve, type TestServer } from '../support/http.ts';
import { processesWith } from '../support/processes.ts';

let here: TestServer;
beforeAll(async () => {
  here = await serve({
    env: {
      ALLOWED_COMMANDS: '*',
      NACRE_TOOLS: 'all',
      NACRE_MCP_RESUME_MS: '3000',
      NACRE_MCP_IDLE_MS: '4000',
    },
  });
});
afterAll(async () => expect(await here.close()).toEqual([]));

const newNap = () => `3278.${Math.floor(Math.random() * 1e9)}`;
const napping = (nap: string) => processesWith(`sleep\u0000${nap}`).length;

/** A session over plain fetch() calls. */
async function openSession(protocolVersion: string) {
  const headers: Record<string, string> = {
    ...here.bearer,
    'Content-Type': 'application/json',
    Accept: 'application/json, text/event-stream',
  };
  const post = (body: object, signal?: AbortSignal) =>
    fetch(here.mcp, {
      method: 'POST',
      headers,
      body: JSON.stringify({ jsonrpc: '2.0', ...body }),
      ...(signal && { signal }),
    });
  const params = { protocolVersion, capabilities: {}, clientInfo: { name: 'raw', version: '1' } };
  const opened = await post({ id: 0, method: 'initialize', params });
  await opened.text();
  headers['Mcp-Session-Id'] = opened.headers.get('mcp-session-id') ?? '';
  headers['Mcp-Protocol-Version'] = protocolVersion;
  await post({ method: 'notifications/initialized' });
  return {
    call: (id: number, name: string, args: object, signal?: AbortSignal) =>
      post({ id, method: 'tools/call', params: { name, arguments: args } }, signal),
    resume: (eventId: string, signal?: AbortSignal) =>
      fetch(here.mcp, { headers: { ...headers, 'Last-Event-ID': eventId }, ...(signal && { signal }) }),
    status: async () => (await post({ id: 99, method: 'ping' })).status,
  };
}

async function firstEventId(response: Response): Promise<string> {
  const { value } = (await response.body?.getReader().read()) ?? {};
  return /^id: (\S+)$/m.exec(Buffer.from(value ?? []).toString())?.[1] ?? '';
}

describe('H10: a call over MCP whose connection is lost', () => {
  test('is resumed by the official client, which gets the result', async () => {
    const lost = new AbortController();
    const begun = join(here.cwd, 'begun');
    const breaking: typeof fetch = (url, init) => {
      const isCall = String(init?.body ?? '').includes('"tools/call"');
      const signal = isCall
        ? AbortSignal.any([lost.signal, ...(init?.signal ? [init.signal] : [])])
        : init?.signal;
      return fetch(url, { ...init, ...(signal && { signal }) });
    };
    const client = new Client(
      { name: 'tester', version: '1.0.0' },
      { supportedProtocolVersions: ['2025-11-25'] },
    );
    const requestInit = { headers: here.bearer };
    await client.connect(
      new StreamableHTTPClientTransport(new URL(here.mcp), { requestInit, fetch: breaking }),
    );
    const command =
      'echo > begun; while [ -e begun ]; do sleep 0.1; done; echo finished once >> done; cat done';
    const call = client.callTool({ name: 'Bash', arguments: { command } });
    await expect.poll(() => existsSync(begun), { timeout: 20_000 }).toBe(true);
    lost.abort();
    rmSync(begun);
    expect(JSON.stringify((await call).content)).toContain('finished once');
    await client.close();
  });

  test('replays what was missed even if the call has ended, and then ends the stream', async () => {
    const session = await openSession('2025-11-25');
    const lost = new AbortController();
    const response = await session.call(
      1,
      'execute_command',
      { command: 'sleep 0.5; echo missed' },
      lost.signal,
    );
    const eventId = await firstEventId(response);
    lost.abort();
    await expect
      .poll(async () => (await (await session.resume(eventId)).text()).includes('missed'), {
        timeout: 10_000,
      })
      .toBe(true);
    expect((await session.resume('made-up/1')).status).toBe(400);
  });

  test.each(['2025-06-18', '2025-11-25'])(
    'is cancelled after mcp_resume_ms (%s), and its shell is free',
    async (era) => {
      const session = await openSession(era);
      const lost = new AbortController();
      const nap = newNap();
      const call = session.call(1, 'Bash', { command: `sleep ${nap}` }, lost.signal).catch(() => {});
      await expect.poll(() => napping(nap), { timeout: 20_000 }).toBeGreaterThan(0);
      lost.abort();
      await call;
      await expect.poll(() => napping(nap), { timeout: 20_000 }).toBe(0);
      expect(await (await session.call(2, 'Bash', { command: 'echo free' })).text()).toContain('free');
    },
  );

  test('keeps running while it is resumed, and is cancelled if that connection is lost too', async () => {
    const session = await openSession('2025-11-25');
    const [first, second] = [new AbortController(), new AbortController()];
    const nap = newNap();
    const eventId = await firstEventId(
      await session.call(1, 'execute_command', { command: `sleep ${nap}` }, first.signal),
    );
    await expect.poll(() => napping(nap), { timeout: 20_000 }).toBeGreaterThan(0);
    first.abort();
    let resumed: Response | undefined;
    await expect
      .poll(async () => {
        resumed = await session.resume(eventId, second.signal);
        return resumed.status;
      })
      .toBe(200);
    await new Promise((resolve) => setTimeout(resolve, 3_500));
    expect(napping(nap)).toBeGreaterThan(0);
    second.abort();
    await resumed?.text().catch(() => {});
    await expect.poll(() => napping(nap), { timeout: 20_000 }).toBe(0);
  });
});

test('H10: a session that is abandoned without DELETE ends after mcp_idle_ms, with its shells and commands', async () => {
  const [session, busy] = [await openSession('2025-06-18'), await openSession('2025-06-18')];
  const naps = [newNap(), newNap(), newNap()];
  await (await session.call(1, 'start_command', { command: `sleep ${naps[0]}` })).text();
  await (await session.call(2, 'Bash', { command: `sleep ${naps[1]} &` })).text();
  const open = busy.call(1, 'execute_command', { command: `sleep ${naps[2]}` });
  const left = () => naps.map(napping);
  await expect.poll(left, { timeout: 20_000 }).toEqual([1, 1, 1].map(() => expect.any(Number)));
  await expect.poll(() => left().slice(0, 2), { timeout: 20_000 }).toEqual([0, 0]);
  expect(await session.status()).toBe(404);
  expect(left()[2]).toBeGreaterThan(0);
  expect(await busy.status()).toBe(200);
  await (await open).body?.cancel();
  await expect.poll(() => left()[2], { timeout: 20_000 }).toBe(0);
});
