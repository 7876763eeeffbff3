import { Server } from '@modelcontextprotocol/server';
import { expect, test } from 'vitest';
import { createMcpEndpoint } from './mcp-endpoint.ts';

const rules = {
  rules: { allow: { kind: 'all' }, allowSetting: 'ALLOWED_COMMANDS', danger: 'block' },
  cwdRoots: [],
} as const;
const caller = { client: 'tester', owner: 'me', rules, terminal: { shells: [], rules }, tools: [] };
const message = (method: string, session?: string) =>
  new Request('http://127.0.0.1/mcp', {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
      ...(session !== undefined && { 'Mcp-Session-Id': session, 'Mcp-Protocol-Version': '2025-06-18' }),
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method,
      params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'a', version: '1' } },
    }),
  });

test('H10: a caller with too many sessions loses the one that was unused for longest, and no other caller’s', async () => {
  const closed: string[] = [];
  const endpoint = createMcpEndpoint(
    {
      createServer: () => new Server({ name: 'x', version: '1' }, { capabilities: {} }),
      closeConnection: async (_, connection) => void closed.push(connection),
      watch: async () => () => {},
      listed: async () => undefined,
    },
    () => {},
    { most: 2, resumeMs: 1_000, idleMs: 60_000 },
  );
  const open = async (who = caller) => {
    const reply = await endpoint.answer(message('initialize'), who);
    await reply.text();
    return reply.headers.get('mcp-session-id') ?? '';
  };
  const status = async (session: string) => (await endpoint.answer(message('ping', session), caller)).status;
  const [first, second] = [await open(), await open()];
  expect(await status(first)).toBe(200);
  await open({ ...caller, owner: 'another' });
  expect([await status(first), await status(second)]).toEqual([200, 200]);
  expect(await status(first)).toBe(200);
  await open();
  expect([await status(first), await status(second)]).toEqual([200, 404]);
  expect(closed).toEqual([expect.stringMatching(/^mcp_/)]);
  await endpoint.close();
  expect(closed).toHaveLength(1);
});
