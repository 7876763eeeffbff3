import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client, type ClientOptions, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Greeting } from '../support/http.ts';
import { type Era, eras } from '../support/mcp.ts';
import { collect, createPlace, sleep, survivors } from '../support/nacre.ts';
import { cliFor, users } from '../support/users.ts';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const tokens = `tokens: [{ name: ci, sha256: ${sha256('the-token-of-ci')}, allow: [git, rm], cwd_roots: [/srv] }]\n`;
const place = createPlace({ NACRE_TERMINAL_TIMEOUT_MAX_MS: '300000' });
const write = (text: string) => {
  mkdirSync(join(place.cwd, '.config', 'nacre'), { recursive: true });
  writeFileSync(join(place.cwd, '.config', 'nacre', 'config.yaml'), tokens + text);
};
let greeting: Greeting;
let stop = () => {};
const failed = () => {
  throw new Error('The server ended during start-up.');
};

// A server of root does not apply changed settings, because a command could have changed them.
beforeAll(async () => {
  write('allowed_commands: [git, ls]\n');
  const { cli, identity } = cliFor(users.at(-1) ?? 'root', place.cwd);
  const server = spawn(process.execPath, [cli, 'serve', '--port', '0', '--json'], { ...place, ...identity });
  stop = () => void server.kill('SIGTERM');
  const out = collect(server.stdout);
  const ended = once(server, 'exit').then(failed);
  while (!out.text().includes('\n')) await Promise.race([sleep(20), ended]);
  ended.catch(() => {});
  greeting = JSON.parse(out.text());
});
afterAll(async () => {
  stop();
  expect(await survivors(place.mark)).toEqual([]);
});

async function connect(
  era: Era,
  { token = greeting.token, more = {} as ClientOptions, name = 'tester' } = {},
) {
  const versions: ClientOptions =
    era === '2026-07-28'
      ? { versionNegotiation: { mode: { pin: era } } }
      : { supportedProtocolVersions: [era] };
  const client = new Client({ name, version: '1' }, { ...versions, ...more });
  const requestInit = { headers: { Authorization: `Bearer ${token}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(greeting.mcp), { requestInit }));
  return client;
}

describe.each(eras)('instructions over HTTP, MCP %s', (era) => {
  test('describe the rules of the token that was sent', async () => {
    const [own, ci] = [await connect(era), await connect(era, { token: 'the-token-of-ci' })];
    expect(own.getInstructions()).toContain('programs may run: git, ls.');
    expect(own.getInstructions()).not.toContain('/srv');
    expect(ci.getInstructions()).toContain('programs may run: git.');
    expect(ci.getInstructions()).toContain(
      `Working directory (or first root): ${place.cwd}; other directories must be below /srv.`,
    );
    await Promise.all([own.close(), ci.close()]);
  });

  test('have 55 s for every client, because even patient ones give up on HTTP after 60 s', async () => {
    const client = await connect(era, { name: 'claude-code' });
    expect(client.getInstructions()).toMatch(/killed after 55 s; .*up to 300 s/);
    await client.close();
  });

  test('follow the settings: the next reply, tools/list_changed and new connections', async () => {
    let changes = 0;
    const onChanged = () => {
      changes += 1;
    };
    const client = await connect(era, {
      more: { listChanged: { tools: { onChanged, autoRefresh: false } } },
    });
    const call = async (command: string) => {
      const { content } = await client.callTool({ name: 'execute_command', arguments: { command } });
      return (content as { text: string }[]).map(({ text }) => text).join('\n');
    };
    expect(await call('ls')).toContain('exit_code: 0');
    write('allowed_commands: [git, echo]\nterminal_timeout_ms: 20000\n');
    const told = await call('echo new');
    expect(told).toContain('new');
    // Since 2026-07-28 requests are independent, so there is no connection to which a change could be told.
    if (era === '2026-07-28') expect(told).not.toContain('have changed');
    else expect(told).toMatch(/The rules of this connection have changed.*run: git, echo\..* 20 s/s);
    await expect.poll(() => changes).toBe(1);
    const again = await connect(era);
    expect(again.getInstructions()).toMatch(/run: git, echo\..* 20 s/s);
    write('allowed_commands: [git, ls]\n');
    await Promise.all([client.close(), again.close()]);
  });
});
