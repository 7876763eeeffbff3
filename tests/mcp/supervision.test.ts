import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import { startDescendants } from '../support/descendants.ts';
import { createPlace, sleep } from '../support/nacre.ts';
import { pathWithout, type Without } from '../support/path-without.ts';
import { processesWith } from '../support/processes.ts';
import { cliFor, type User, users } from '../support/users.ts';
import { uniqueSeconds } from './shared-servers.ts';

/** Starts a server as that user, with a command that has run `startDescendants`. */
async function startServer(
  user: User,
  label: string,
  { env = {}, without = {} }: { env?: Readonly<Record<string, string>>; without?: Without } = {},
) {
  const place = createPlace({ ALLOWED_COMMANDS: '*', ...env });
  const { cli, identity } = cliFor(user, place.cwd);
  const path = Object.keys(without).length > 0 ? { PATH: pathWithout(place.cwd, without) } : {};
  const own = { ...place.env, HOME: place.cwd, ...path };
  const options = { cwd: place.cwd, env: own, detached: true, ...identity };
  const server = spawn(process.execPath, [cli, 'mcp'], { ...options, stdio: ['pipe', 'pipe', 'ignore'] });
  const say = (message: object) => server.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const clientInfo = { name: 'test', version: '1' };
  say({
    id: 1,
    method: 'initialize',
    params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo },
  });
  say({ method: 'notifications/initialized' });
  const command = `${startDescendants(label)}\nsleep ${label}`;
  say({ id: 2, method: 'tools/call', params: { name: 'execute_command', arguments: { command } } });
  const sleepers = () => processesWith(`sleep\0${label}`);
  for (let tries = 0; tries < 150 && sleepers().length < 8; tries += 1) await sleep(40);
  expect(sleepers().length).toBeGreaterThanOrEqual(7);
  return { server, sleepers, mark: place.mark, cli, options };
}

const levels = [
  ['namespace', {}],
  ['unshare', { hidden: ['bwrap'] }],
] as const satisfies readonly (readonly [string, Without])[];
const ways = levels.flatMap(([level, without]) => users.map((user) => [user, level, without] as const));

describe.each(ways)('E2: a server of user %s at level %s', (user, level, without) => {
  test.concurrent.each([
    ['whose stdin closes', (server: ReturnType<typeof spawn>) => server.stdin?.end()],
    ['that receives SIGTERM', (server: ReturnType<typeof spawn>) => server.kill('SIGTERM')],
    ['that receives SIGKILL', (server: ReturnType<typeof spawn>) => server.kill('SIGKILL')],
  ])('%s leaves none of eight descendants behind', async (_, end) => {
    const label = uniqueSeconds();
    const env = { NACRE_SUPERVISION_REQUIRE: level };
    const { server, sleepers, mark } = await startServer(user, label, { env, without });
    end(server);
    for (let tries = 0; tries < 50 && sleepers().length > 0; tries += 1) await sleep(40);
    expect(sleepers()).toEqual([]);
    for (let tries = 0; tries < 50 && processesWith(mark).length > 0; tries += 1) await sleep(40);
    expect(processesWith(mark)).toEqual([]);
  });
});

describe.each(users)('E2: processes that a killed server of user %s left without namespaces', (user) => {
  test('are killed when the next server starts, and no others', async () => {
    const inGroups = { env: { NACRE_PROCESSES: 'host' } };
    const killed = await startServer(user, uniqueSeconds(), inGroups);
    const living = await startServer(user, uniqueSeconds(), inGroups);
    const stranger = spawn('sleep', ['4001'], { detached: true, stdio: 'ignore' });
    killed.server.kill('SIGKILL');
    await once(killed.server, 'exit');

    const next = spawn(process.execPath, [killed.cli, 'run', 'true'], { ...killed.options, stdio: 'ignore' });
    expect(await once(next, 'exit')).toEqual([0, null]);
    expect(processesWith(killed.mark)).toEqual([]);
    expect(living.sleepers().length).toBeGreaterThanOrEqual(7);
    expect(stranger.exitCode ?? stranger.signalCode).toBeNull();

    stranger.kill('SIGKILL');
    living.server.stdin.end();
    await once(living.server, 'exit');
    expect(processesWith(living.mark)).toEqual([]);
    // A process that cleared its environment and left its session cannot be found; `enforcement.gaps` reports that.
    const lost = [...killed.sleepers(), ...living.sleepers()];
    expect(lost.length).toBeLessThanOrEqual(2);
    for (const pid of lost) process.kill(pid, 'SIGKILL');
  });
});
