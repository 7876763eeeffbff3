import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Client, type ClientOptions, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { serve, type TestServer } from '../support/http.ts';
import { dataOf, type Era, eras } from '../support/mcp.ts';
import { runInProcess, sleep } from '../support/nacre.ts';
import { processesWith } from '../support/processes.ts';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
let here: TestServer;

beforeAll(async () => {
  here = await serve({
    env: { ALLOWED_COMMANDS: '*', NACRE_TOOLS: 'all' },
    userFile: `tokens:\n  - { name: other, sha256: ${sha256('the-token-of-another')}, allow: [git, cat] }\n`,
  });
});
afterAll(async () => expect(await here.close()).toEqual([]));

async function connect(era: Era, token = here.token) {
  const options: ClientOptions =
    era === '2026-07-28'
      ? { versionNegotiation: { mode: { pin: era } } }
      : { supportedProtocolVersions: [era] };
  const client = new Client({ name: 'tester', version: '1.0.0' }, options);
  const requestInit = { headers: { Authorization: `Bearer ${token}` } };
  const transport = new StreamableHTTPClientTransport(new URL(here.mcp), { requestInit });
  await client.connect(transport);
  const use = async (name: string, args: Record<string, unknown>, more = {}) => {
    const result = await client.callTool({ name, arguments: args }, more);
    const [first] = result.content as { text: string }[];
    return {
      text: first?.text ?? '',
      structured: dataOf(result, name),
      isError: result.isError === true,
    };
  };
  return { client, transport, use };
}

describe.each(eras)('H10: MCP %s over HTTP', (era) => {
  test('offers the same tools and runs them', async () => {
    const { client, use } = await connect(era);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['execute_command', 'Bash', 'shell_execute']),
    );
    expect((await use('execute_command', { command: 'echo hello' })).structured).toMatchObject({
      stdout: 'hello\n',
    });
    expect((await use('Bash', { command: 'cd /usr; x=kept' })).isError).toBe(false);
    expect((await use('Bash', { command: 'echo $x $PWD' })).text).toContain('kept /usr');
    await client.close();
  });

  test('two callers never see each other’s shells, commands or logs', async () => {
    const [mine, other] = [await connect(era), await connect(era, 'the-token-of-another')];
    const { structured } = await mine.use('start_command', { command: 'cat', name: 'secret' });
    const { command_id } = structured as { command_id: string };
    for (const [tool, input] of [
      ['read_output', { command_id }],
      ['read_output', { command_id: 'secret' }],
      ['write_input', { command_id, text: 'x' }],
      ['stop_command', { command_id }],
      ['BashOutput', { bash_id: command_id }],
      ['KillShell', { shell_id: command_id }],
    ] as const)
      expect((await other.use(tool, input)).isError).toBe(true);
    expect((await other.use('list_commands', {})).text).not.toContain(command_id);
    expect((await other.use('ListShells', {})).text).not.toContain(command_id);
    const { resources } = await other.client.listResources();
    expect(JSON.stringify(resources)).not.toContain(command_id);
    await mine.use('Bash', { command: 'mine=1' });
    expect((await other.use('Bash', { command: 'echo "[$mine]"' })).isError).toBe(true);
    expect((await mine.use('list_commands', {})).text).toContain(command_id);
    expect((await mine.use('stop_command', { command_id })).isError).toBe(false);
    await mine.client.close();
    await other.client.close();
  });

  test('T9: notifies the owner’s subscribers, and no others, that a command has printed more', async () => {
    const [mine, other] = [await connect(era), await connect(era, 'the-token-of-another')];
    const command = 'read -r x; echo "got $x"; sleep 60';
    const { structured } = await mine.use('start_command', { command, wait_ms: 10_000 });
    const { command_id } = structured as { command_id: string };
    const log = `nacre://commands/${command_id}/log`;
    const updated: string[] = [];
    for (const [name, { client }] of Object.entries({ mine, other })) {
      client.setNotificationHandler('notifications/resources/updated', ({ params }) => {
        updated.push(`${name} ${params.uri}`);
      });
      if (era === '2026-07-28') await client.listen({ resourceSubscriptions: [log] });
      else await client.subscribeResource({ uri: log });
    }
    await mine.use('write_input', { command_id, text: 'it\n', wait_for: 'got' });
    await expect.poll(() => updated.length, { timeout: 10_000 }).toBeGreaterThan(0);
    await mine.use('stop_command', { command_id });
    expect(new Set(updated)).toEqual(new Set([`mine ${log}`]));
    await mine.client.close();
    await other.client.close();
  });

  test('applies the allow list of a token', async () => {
    const { client, use } = await connect(era, 'the-token-of-another');
    expect((await use('execute_command', { command: 'git --version' })).isError).toBe(false);
    expect((await use('execute_command', { command: 'ls' })).text).toMatch(/not allowed/);
    await client.close();
  });

  test('refuses a wrong token', async () => {
    await expect(connect(era, 'wrong')).rejects.toThrow();
  });
});

test('H10: MCP in every revision sends progress while a command runs', async () => {
  const countProgress = async (era: Era) => {
    const { client, use } = await connect(era);
    let count = 0;
    await use(
      'execute_command',
      { command: 'for i in 1 2 3; do echo $i; sleep 0.5; done' },
      {
        onprogress: () => {
          count += 1;
        },
      },
    );
    await client.close();
    return count;
  };
  for (const count of await Promise.all(eras.map(countProgress))) expect(count).toBeGreaterThan(0);
});

test('a shutdown waits for calls over MCP', async () => {
  const other = await serve({ env: { ALLOWED_COMMANDS: '*' } });
  const client = new Client({ name: 'tester', version: '1.0.0' });
  const requestInit = { headers: other.bearer };
  await client.connect(new StreamableHTTPClientTransport(new URL(other.mcp), { requestInit }));
  const call = client.callTool({
    name: 'execute_command',
    arguments: { command: 'echo > begun; sleep 0.5; echo end' },
  });
  while (!existsSync(join(other.cwd, 'begun'))) await sleep(10);
  other.interrupt('SIGTERM');
  expect((await call).structuredContent).toMatchObject({ exit_code: 0, stdout: 'end\n' });
  expect((await other.ended).stderr).toContain('ended: 1 of 1 open calls were finished.');
  await client.close();
});

describe('H10: an MCP session', () => {
  test('belongs to the caller that opened it, and ends on DELETE', async () => {
    const { client, transport } = await connect('2025-11-25');
    const id = transport.sessionId ?? '';
    expect(id).not.toBe('');
    const ask = (token: string, session: string) =>
      here.post(
        '/mcp',
        { jsonrpc: '2.0', id: 1, method: 'tools/list' },
        {
          Authorization: `Bearer ${token}`,
          Accept: 'application/json, text/event-stream',
          'Mcp-Session-Id': session,
          'Mcp-Protocol-Version': '2025-11-25',
        },
      );
    expect((await ask(here.token, id)).status).toBe(200);
    expect((await ask('the-token-of-another', id)).status).toBe(404);
    expect((await ask(here.token, 'made-up')).status).toBe(404);
    await transport.terminateSession();
    expect((await ask(here.token, id)).status).toBe(404);
    await client.close();
  });

  test('B3: has its own persistent shells, which end with it', async () => {
    const [one, other] = [await connect('2025-11-25'), await connect('2025-11-25')];
    const [nap, sessions] = [`1000.${Math.floor(Math.random() * 1e9)}`, { sessions: [{ session: 'main' }] }];
    await one.use('Bash', { command: `x=one; sleep ${nap} &` });
    expect((await other.use('Bash', { command: 'echo "[$x]"; x=other' })).text).toBe('[]\n');
    expect((await one.use('Bash', { command: 'echo "[$x]"' })).text).toBe('[one]\n');
    expect((await one.use('ListShells', {})).structured).toMatchObject(sessions);
    const napping = () => processesWith(`sleep\u0000${nap}`).length;
    expect(napping()).toBe(1);
    await one.transport.terminateSession();
    await expect.poll(napping, { timeout: 10_000 }).toBe(0);
    expect((await other.use('Bash', { command: 'echo "[$x]"' })).text).toBe('[other]\n');
    await Promise.all([one.client.close(), other.client.close()]);
  });

  test('B11: has its own read position', async () => {
    const [one, other] = [await connect('2025-11-25'), await connect('2025-11-25')];
    const { structured } = await one.use('Bash', { command: 'echo said', run_in_background: true });
    const read = async ({ use }: typeof one) =>
      (await use('BashOutput', { bash_id: structured.bash_id })).structured.stdout;
    await expect.poll(() => read(one), { timeout: 10_000 }).toBe('said\n');
    expect([await read(other), await read(one), await read(other)]).toEqual(['said\n', '', '']);
    await Promise.all([one.client.close(), other.client.close()]);
  });

  test('B3, B14: without a session, shells belong to the token, and no other token sees them', async () => {
    const bash = (command: string, token: string) =>
      here.post('/api/tools/Bash', { command }, { Authorization: `Bearer ${token}` });
    await bash('x=mine', here.token);
    expect((await bash('cat <<< "[$x]"', 'the-token-of-another')).body).toMatchObject({ text: '[]\n' });
    expect((await bash('echo "[$x]"', here.token)).body).toMatchObject({ text: '[mine]\n' });
    const { body } = await here.post('/api/tools/ListShells', {});
    expect(body.text).not.toContain('other');
    expect(body.text).toMatch(/^session main /m);
  });

  test('requires a token and our Origin, and limits the body', async () => {
    const hello = { jsonrpc: '2.0', id: 1, method: 'initialize', params: {} };
    expect((await here.post('/mcp', hello, { Authorization: '' })).status).toBe(401);
    expect((await here.post('/mcp', hello, { Origin: 'http://evil.example' })).status).toBe(403);
    expect(
      (await here.post('/mcp', JSON.stringify({ ...hello, params: { x: 'x'.repeat(13_000_000) } }))).status,
    ).toBe(413);
    const accept = { Accept: 'application/json, text/event-stream' };
    expect((await here.post('/mcp', '{', accept)).status).toBe(400);
  });
});

test('T9: another terminal reaches the server from its start', async () => {
  const fresh = await serve({ env: { ALLOWED_COMMANDS: '*' } });
  await expect.poll(() => fresh.stderr(), { timeout: 10_000 }).toContain('ready:');
  expect(await runInProcess(['pause'], fresh)).toMatchObject({ stdout: expect.stringContaining('1 server') });
  const run = () => fresh.shell('git', ['--version']);
  expect((await run()).status).toBe(403);
  await runInProcess(['resume'], fresh);
  expect((await run()).body).toMatchObject({ stdout: expect.stringContaining('git version') });
  expect(await fresh.close()).toEqual([]);
});
