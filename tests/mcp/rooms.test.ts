import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { connect } from '../support/mcp.ts';
import { createPlace, survivors } from '../support/nacre.ts';
import { needLevel, needPrograms, needPty } from '../support/needs.ts';
import { serverScript } from '../support/room-server.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { cliFor, users } from '../support/users.ts';
import type { McpServer } from './shared-servers.ts';

const open: McpServer[] = [];
afterAll(async () => {
  const left = await Promise.all(open.map((server) => server.close()));
  expect(left.flat()).toEqual([]);
});

// A home directory cannot be a workspace, so the server's directory is another one.
async function serve(env: Readonly<Record<string, string>>) {
  const args = ['--cwd', temporaryFolder()];
  const server = await connect({ args, env: { ALLOWED_COMMANDS: '*', NACRE_TOOLS: 'all', ...env } });
  open.push(server);
  return server;
}

const ask = 'curl -sS --max-time 5 http://localhost:3000/';
const stdoutOf = async ({ call }: McpServer, command: string) => (await call({ command })).structured.stdout;

// src/worker/room/rooms.test.ts has the other combinations.
const settings = [
  ['workspace', 'no network', {}],
  ['strict', 'listed hosts', { NACRE_NETWORK_ALLOW: 'registry.example' }],
] as const;

describe.concurrent.each(settings)('a connection in the sandbox %s with %s', (sandbox, _, env) => {
  test('reaches its server and finds its files in every call and tool', async (context) => {
    needPrograms(context, 'curl', 'nsenter');
    await needLevel(context, 'namespace');
    await needPty(context);
    const { expect } = context;
    const server = await serve({ NACRE_SANDBOX: sandbox, ...env });
    await server.use('start_command', {
      command: `echo start_command > /tmp/note; ${serverScript(3000, 'it works')}`,
      wait_ms: 0,
    });
    await expect.poll(() => stdoutOf(server, `${ask} || true`)).toBe('it works');
    expect(await stdoutOf(server, 'cat /tmp/note; echo execute_command >> /tmp/note')).toBe(
      'start_command\n',
    );
    const inShell = await server.use('Bash', { command: `cat /tmp/note; echo Bash >> /tmp/note; ${ask}` });
    expect(inShell.text).toContain('start_command\nexecute_command\nit works');
    const atTerminal = await server.use('start_command', {
      command: `cat /tmp/note; ${ask}`,
      pty: true,
      wait_ms: 10_000,
    });
    expect(atTerminal.text).toMatch(/Bash\s+it works/);
  });
});

test('what commands share ends with the connection', async (context) => {
  needPrograms(context, 'curl', 'nsenter');
  await needLevel(context, 'namespace');
  const server = await serve({ NACRE_SANDBOX: 'workspace', NACRE_OUTLIVE: 'off' });
  await server.use('start_command', {
    command: `mkdir -m 0 /tmp/closed; ${serverScript(3000, '')}`,
    wait_ms: 0,
  });
  await expect.poll(() => stdoutOf(server, `${ask} -o /dev/null -w '%{http_code}' || true`)).toBe('200');
  const runs = join(server.cwd, '.local/state/nacre/run');
  expect(readdirSync(runs)).toHaveLength(1);
  expect(await server.close()).toEqual([]);
  expect(readdirSync(runs)).toEqual([]);
});

describe.each(users)('E2: a server of user %s that receives SIGKILL', (user) => {
  test('leaves no process behind, and the next server removes its folders', async (context) => {
    needPrograms(context, 'curl', 'nsenter');
    await needLevel(context, 'namespace');
    const place = createPlace({ ALLOWED_COMMANDS: '*', NACRE_SANDBOX: 'workspace', NACRE_OUTLIVE: 'off' });
    const { cli, identity } = cliFor(user, place.cwd);
    const cwd = join(place.cwd, 'project');
    mkdirSync(cwd);
    if (identity.uid !== undefined) chownSync(cwd, identity.uid, identity.uid);
    const { env } = place;
    const runs = join(place.cwd, '.local/state/nacre/run');
    const start = (command: string) => startServer(cli, { ...identity, cwd, env }, command);
    const killed = await start(`mkdir -m 0 /tmp/closed; echo up; ${serverScript(3000, '')}`);
    killed.kill('SIGKILL');
    expect(await survivors(place.mark)).toEqual([]);
    const [folder = ''] = readdirSync(runs);
    expect(existsSync(join(runs, folder, 'rooms/0/tmp/closed'))).toBe(true);
    const next = await start('echo up; sleep 60');
    await expect.poll(() => readdirSync(runs).includes(folder)).toBe(false);
    next.stdin?.end();
    await once(next, 'exit');
    expect(await survivors(place.mark)).toEqual([]);
    expect(readdirSync(runs)).toEqual([]);
  });
});

/** Starts a server as a user, and returns once a command runs that it was asked to start. */
async function startServer(cli: string, options: object, command: string) {
  const server = spawn(process.execPath, [cli, 'mcp'], { ...options, stdio: ['pipe', 'pipe', 'ignore'] });
  const say = (message: object) => server.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const clientInfo = { name: 'test', version: '1' };
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo };
  say({ id: 1, method: 'initialize', params });
  say({ method: 'notifications/initialized' });
  const args = { command, wait_ms: 10_000, wait_for: 'up' };
  say({ id: 2, method: 'tools/call', params: { name: 'start_command', arguments: args } });
  for await (const text of server.stdout ?? []) if (String(text).includes('"id":2')) break;
  return server;
}
