import { createHash } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { serve, type TestServer } from '../support/http.ts';
import { needLevel, needPrograms } from '../support/needs.ts';
import { serverScript } from '../support/room-server.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const otherToken = 'the-token-of-another';
let here: TestServer;
beforeAll(async () => {
  here = await serve({
    env: {
      ALLOWED_COMMANDS: '*',
      SHELL_ALLOWLIST: 'cat,ls',
      NACRE_TOOLS: 'all',
      NACRE_SANDBOX: 'workspace',
      NACRE_WORKSPACE: temporaryFolder(),
    },
    userFile: `tokens:\n  - { name: other, sha256: ${sha256(otherToken)} }\n`,
  });
});
beforeEach(async (context) => {
  needPrograms(context, 'curl', 'nsenter');
  await needLevel(context, 'namespace');
});
afterAll(async () => expect(await here.close()).toEqual([]));

const ask = "curl -s --max-time 5 localhost:3000 || echo 'not reached'";
const use = async (token: string, tool: string, input: object) => {
  const reply = await here.post(`/api/tools/${tool}`, input, { Authorization: `Bearer ${token}` });
  return (reply.body.result as { stdout?: string }).stdout;
};

test('H10: callers with different tokens share neither loopback nor /tmp', async () => {
  const { token } = here;
  await use(token, 'start_command', {
    command: `touch /tmp/mine; ${serverScript(3000, 'hello')}`,
    wait_ms: 0,
  });
  await expect.poll(() => use(token, 'execute_command', { command: ask })).toBe('hello');
  expect(await use(otherToken, 'execute_command', { command: `${ask}; ls /tmp` })).not.toMatch(/hello|mine/);
  const list = (name: string) =>
    here.post('/api/shell', { command: 'ls', args: ['/tmp'] }, { Authorization: `Bearer ${name}` });
  expect((await list(token)).body.stdout).toContain('mine\n');
  expect((await list(otherToken)).body.stdout).not.toContain('mine');
});

test('H10: MCP sessions of one token share neither, and a session’s /tmp is removed with it', async () => {
  const one = await openSession();
  const other = await openSession();
  await one.run('start_command', { command: `touch /tmp/of-one; ${serverScript(3000, 'one')}`, wait_ms: 0 });
  await expect.poll(() => one.run('execute_command', { command: ask })).toBe('one');
  expect(await other.run('execute_command', { command: `${ask}; ls /tmp` })).not.toMatch(/one/);
  const before = rooms();
  await other.transport.terminateSession();
  await expect.poll(rooms).toBe(before - 1);
  expect(await one.run('execute_command', { command: `${ask}; ls /tmp/of-one` })).toBe('one/tmp/of-one\n');
  await Promise.all([one, other].map(({ client }) => client.close()));
});

/** The number of rooms of all processes. */
function rooms(): number {
  const runs = join(here.cwd, '.local/state/nacre/run');
  return readdirSync(runs).flatMap((process) => {
    const folder = join(runs, process, 'rooms');
    return existsSync(folder) ? readdirSync(folder) : [];
  }).length;
}

async function openSession() {
  const client = new Client(
    { name: 'tester', version: '1.0.0' },
    { supportedProtocolVersions: ['2025-11-25'] },
  );
  const requestInit = { headers: here.bearer };
  const transport = new StreamableHTTPClientTransport(new URL(here.mcp), { requestInit });
  await client.connect(transport);
  const run = async (name: string, args: Record<string, unknown>) => {
    const { structuredContent } = await client.callTool({ name, arguments: args });
    return (structuredContent as { stdout?: string }).stdout;
  };
  return { client, transport, run };
}
