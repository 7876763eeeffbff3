import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import { createPlace, sleep } from '../support/nacre.ts';
import { processesWith } from '../support/processes.ts';
import { cliFor, type User, users } from '../support/users.ts';

// Each tries in its own way to outlive the server; the last one also forgets where it came from.
const descendants = [
  'sleep 3001 &',
  '(sleep 3001 &)',
  'setsid sleep 3001 &',
  '( (setsid sleep 3001 &) & )',
  'nohup sleep 3001 > /dev/null 2>&1 & disown',
  `bash -c 'trap "" TERM INT HUP; while :; do sleep 3001; done' &`,
  'env -i PATH="$PATH" setsid bash -c "(sleep 3001 > /dev/null 2>&1 < /dev/null &)" &',
  'sleep 3001',
].join('\n');

/** A server with a command that has started all of them, for one of the two kinds of users. */
async function startServer(user: User, label: string, own: Readonly<Record<string, string>> = {}) {
  const place = createPlace({ ALLOWED_COMMANDS: '*', ...own });
  const { cli, identity } = cliFor(user, place.cwd);
  const options = { cwd: place.cwd, env: { ...place.env, HOME: place.cwd }, detached: true, ...identity };
  const server = spawn(process.execPath, [cli, 'mcp'], { ...options, stdio: ['pipe', 'pipe', 'ignore'] });
  const say = (message: object) => server.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const clientInfo = { name: 'test', version: '1' };
  say({
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo },
  });
  say({ method: 'notifications/initialized' });
  const command = descendants.replaceAll('3001', label);
  say({ id: 2, method: 'tools/call', params: { name: 'execute_command', arguments: { command } } });
  const sleepers = () => processesWith(`sleep\0${label}`);
  for (let tries = 0; tries < 300 && sleepers().length < 8; tries += 1) await sleep(20);
  expect(sleepers().length).toBeGreaterThanOrEqual(7);
  return { server, sleepers, mark: place.mark, cli, options };
}

describe.each(users)('E2: a server of the user %s', (user) => {
  test.each([
    ['whose stdin is closed', (server: ReturnType<typeof spawn>) => server.stdin?.end()],
    ['that gets SIGTERM', (server: ReturnType<typeof spawn>) => server.kill('SIGTERM')],
    ['that is killed', (server: ReturnType<typeof spawn>) => server.kill('SIGKILL')],
  ])('%s leaves none of eight descendants behind', async (what, end) => {
    const label = `3${user.length}${what.length}.5`;
    const { server, sleepers, mark } = await startServer(user, label);
    end(server);
    for (let tries = 0; tries < 100 && sleepers().length > 0; tries += 1) await sleep(20);
    expect(sleepers()).toEqual([]);
    for (let tries = 0; tries < 100 && processesWith(mark).length > 0; tries += 1) await sleep(20);
    expect(processesWith(mark)).toEqual([]);
  });
});

describe.each(users)('E2: what a killed server of the user %s left where there are no namespaces', (user) => {
  test('is ended when the next one starts, and nothing else is', async () => {
    const inGroups = { NACRE_PROCESSES: 'host' };
    const killed = await startServer(user, `4${user.length}.5`, inGroups);
    const living = await startServer(user, `5${user.length}.5`, inGroups);
    const stranger = spawn('sleep', ['4001'], { detached: true, stdio: 'ignore' });
    killed.server.kill('SIGKILL');
    await once(killed.server, 'exit');
    expect(processesWith(killed.mark).length).toBeGreaterThanOrEqual(7);

    const next = spawn(process.execPath, [killed.cli, 'run', 'true'], { ...killed.options, stdio: 'ignore' });
    expect(await once(next, 'exit')).toEqual([0, null]);
    expect(processesWith(killed.mark)).toEqual([]);
    expect(living.sleepers().length).toBeGreaterThanOrEqual(7);
    expect(stranger.exitCode ?? stranger.signalCode).toBeNull();

    stranger.kill('SIGKILL');
    living.server.stdin.end();
    await once(living.server, 'exit');
    expect(processesWith(living.mark)).toEqual([]);
    // What cleared its environment and left its session is the gap that every result names.
    const lost = [...killed.sleepers(), ...living.sleepers()];
    expect(lost.length).toBeLessThanOrEqual(2);
    for (const pid of lost) process.kill(pid, 'SIGKILL');
  });
});
