import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { builtCli } from '../support/build.ts';
import { connect, eras, openRaw } from '../support/mcp.ts';
import { createPlace, sleep, survivors } from '../support/nacre.ts';
import { processesWith } from '../support/processes.ts';

/** Ignores SIGTERM, SIGINT and SIGHUP, and starts a process in another session. */
const stubborn = "trap '' TERM INT HUP; (setsid nohup sleep 64.5 > /dev/null 2>&1 &); sleep 64.5; sleep 64.5";

async function until(condition: () => boolean, limitMs: number): Promise<number> {
  const start = Date.now();
  while (!condition() && Date.now() - start < limitMs) await sleep(30);
  return Date.now() - start;
}

describe.concurrent.each(eras)('over MCP %s', (era) => {
  it('E2, S6: a cancelled call kills its process tree, the server stays usable, and the audit names the client', async () => {
    const env = { ALLOWED_COMMANDS: '*', NACRE_KILL_GRACE_MS: '200', NACRE_AUDIT_DIR: 'audit' };
    const server = await connect({ era, env });
    const label = `LABEL=${server.cwd}`;
    const cancelling = new AbortController();
    const call = server.call(
      { command: stubborn, env: { LABEL: server.cwd } },
      { signal: cancelling.signal },
    );
    call.catch(() => {});
    // Both sleeps; LABEL is not in the initial `environ` of the shell.
    await until(() => processesWith(label).length >= 2, 20_000);
    expect(processesWith(label).length).toBeGreaterThanOrEqual(2);
    cancelling.abort('enough');
    await expect(call).rejects.toThrow();
    expect(await until(() => processesWith(label).length === 0, 3_000)).toBeLessThan(2_000);
    expect(processesWith(label)).toEqual([]);
    expect((await server.call({ command: 'echo on' })).structured.stdout).toBe('on\n');
    expect(await server.close()).toEqual([]);
    const folder = join(server.cwd, 'audit');
    const file = (await readdir(folder)).find((name) => /^\d/.test(name)) ?? '';
    const [asked = ''] = readFileSync(join(folder, file), 'utf8').split('\n');
    expect(JSON.parse(asked)).toMatchObject({ kind: 'asked', door: 'mcp', client: 'tester' });
  });
});

describe('calls', () => {
  it('run in parallel', async () => {
    const server = await connect({ env: { ALLOWED_COMMANDS: '*' } });
    await server.call({ command: 'true' });
    const start = Date.now();
    await Promise.all([1, 2, 3].map(() => server.call({ command: 'sleep 1' })));
    expect(Date.now() - start).toBeLessThan(2_000);
    expect(await server.close()).toEqual([]);
  });

  it('leave no process if they are cancelled immediately', async () => {
    const server = await openRaw();
    const params = { name: 'execute_command', arguments: { command: stubborn, env: { LABEL: server.cwd } } };
    server.send({ jsonrpc: '2.0', id: 7, method: 'tools/call', params });
    server.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 7 } });
    expect((await server.call({ command: 'echo on' })).result?.structuredContent?.stdout).toBe('on\n');
    await until(() => processesWith(`LABEL=${server.cwd}`).length === 0, 4_000);
    expect(processesWith(`LABEL=${server.cwd}`)).toEqual([]);
    expect(server.messages().filter(({ id }) => id === 7)).toEqual([]);
    server.child.stdin.end();
    expect(await survivors(server.mark)).toEqual([]);
  });
});

describe('stdout', () => {
  it('carries only protocol messages, even with settings that warn and a profile that prints', async () => {
    const server = await openRaw({
      ALLOWED_COMMANDS: '',
      ALLOWED_CWD_ROOTS: '/does/not/exist',
      NACRE_MISSPELT: '1',
      NACRE_LOGIN_ENV: 'always',
      SHELL: '/bin/bash',
      BASH_ENV: '/dev/null',
    });
    writeFileSync(join(server.cwd, '.bash_profile'), 'echo noise; echo more noise >&2\n');
    server.send('garbage\n');
    await server.call({ command: 'echo hi', cwd: '/tmp' });
    server.child.stdin.end();
    await once(server.child, 'close');
    for (const line of server.stdout().trimEnd().split('\n')) expect(JSON.parse(line).jsonrpc).toBe('2.0');
    expect(server.stderr()).toMatch(/ALLOWED_COMMANDS/);
    expect(server.stderr()).toMatch(/ALLOWED_CWD_ROOTS/);
    expect(server.stderr()).toMatch(/NACRE_MISSPELT/);
    expect(await survivors(server.mark)).toEqual([]);
  });
});

describe('E2: the server exits and kills every command', () => {
  async function busy() {
    const server = await openRaw();
    const params = { name: 'execute_command', arguments: { command: stubborn } };
    for (const id of [1, 2]) server.send({ jsonrpc: '2.0', id, method: 'tools/call', params });
    await until(() => processesWith(server.mark).length >= 7, 20_000);
    expect(processesWith(server.mark).length).toBeGreaterThanOrEqual(5);
    return server;
  }

  it.each([
    ['when stdin closes', 'close'],
    ['at SIGTERM', 'SIGTERM'],
    ['at SIGINT', 'SIGINT'],
    ['at SIGHUP', 'SIGHUP'],
  ] as const)('within two seconds %s', async (_, how) => {
    const server = await busy();
    const closed = once(server.child, 'exit');
    const start = Date.now();
    if (how === 'close') server.child.stdin.end();
    else server.child.kill(how);
    expect(await closed).toEqual([0, null]);
    expect(Date.now() - start).toBeLessThan(2_000);
    expect(await survivors(server.mark)).toEqual([]);
    expect(server.stderr()).toMatch(/^(nacre: ready: .*\n)?$/);
  });

  it('within two seconds while the client does not read stdout', async () => {
    const server = await openRaw();
    server.child.stdout.pause();
    const params = {
      name: 'execute_command',
      arguments: { command: 'seq 1 60000', max_output_chars: 200_000 },
    };
    for (const id of [1, 2, 3, 4]) server.send({ jsonrpc: '2.0', id, method: 'tools/call', params });
    await sleep(500);
    const start = Date.now();
    server.child.kill('SIGTERM');
    await once(server.child, 'exit');
    expect(Date.now() - start).toBeLessThan(2_000);
    expect(await survivors(server.mark)).toEqual([]);
  });

  it('when the client is killed during a command', async () => {
    const place = createPlace({ ALLOWED_COMMANDS: '*' });
    const client = spawn(process.execPath, ['-e', clientScript, builtCli, stubborn], place);
    await until(() => processesWith(place.mark).length >= 5, 20_000);
    expect(processesWith(place.mark).length).toBeGreaterThanOrEqual(4);
    client.kill('SIGKILL');
    expect(await until(() => processesWith(place.mark).length === 0, 4_000)).toBeLessThan(2_500);
    expect(processesWith(place.mark)).toEqual([]);
  });
});

const clientScript = `
const [cli, command] = process.argv.slice(1);
const server = require('node:child_process').spawn(process.execPath, [cli, 'mcp'], { stdio: ['pipe', 'pipe', 'ignore'] });
const send = (message) => server.stdin.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
const clientInfo = { name: 'doomed', version: '1' };
send({ id: 0, method: 'initialize', params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo } });
send({ method: 'notifications/initialized' });
send({ id: 1, method: 'tools/call', params: { name: 'execute_command', arguments: { command } } });
server.stdout.resume();
`;
