// A helper process of `nacre mcp` is killed or stopped while a command runs: the reply of the call, and the end of the server on SIGTERM.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { afterEach, expect, test } from 'vitest';
import { createStopwatch, sleep } from '../../src/support/timing.ts';
import { childrenOf, descendantsOf } from '../../src/worker/processes/descendants.ts';
import { uniqueSeconds } from '../mcp/shared-servers.ts';
import { builtCli } from '../support/build.ts';
import { createPlace } from '../support/nacre.ts';
import { commandLine, processesWith } from '../support/processes.ts';

const endMs = 20_000;
const servers: ChildProcess[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.kill('SIGKILL');
});

/** Starts `nacre mcp` with a command that sleeps for `label` seconds. */
async function startServer(label: string) {
  const { cwd, env } = createPlace({ ALLOWED_COMMANDS: '*' });
  const server = spawn(process.execPath, [builtCli, 'mcp'], { cwd, env, stdio: ['pipe', 'pipe', 'ignore'] });
  servers.push(server);
  const send = (message: object) => server.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const replies = createInterface({ input: server.stdout });
  const call = (id: number, command: string) => {
    const replied = new Promise<string>((resolve) => {
      replies.on('line', (line) => {
        const message = JSON.parse(line);
        if (message.id === id) resolve(message.result.content[0].text);
      });
    });
    send({ id, method: 'tools/call', params: { name: 'execute_command', arguments: { command } } });
    return replied;
  };
  const clientInfo = { name: 'test', version: '1' };
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo };
  send({ id: 1, method: 'initialize', params });
  send({ method: 'notifications/initialized' });
  const reply = call(2, `echo up; sleep ${label}`);
  const sleepers = () => processesWith(`sleep\0${label}`);
  await expect.poll(() => sleepers().length, { timeout: endMs }).toBe(1);
  return { server, reply, call, sleepers, pid: server.pid ?? 0 };
}

const helpers = {
  'fork server': (pid: number) => childrenOf(pid).find((one) => commandLine(one).includes('$signalfd')),
  supervisor: (pid: number, sleeper: number) =>
    ancestorsBelow(pid, sleeper).find((one) => commandLine(one).startsWith('bwrap')),
  keeper: (pid: number, sleeper: number) =>
    ancestorsBelow(pid, sleeper).find(
      (one) => commandLine(one).includes('printf "ready') && !commandLine(one).startsWith('bwrap'),
    ),
} as const;

/** The ancestors of a process, below a server, the highest first. */
function ancestorsBelow(server: number, pid: number): readonly number[] {
  return descendantsOf(server).filter((one) => descendantsOf(one).includes(pid));
}

test.each(['fork server', 'supervisor', 'keeper'] as const)(
  'a killed %s: the end of the command is unknown, nothing of it survives, and the next one works',
  { timeout: 90_000 },
  async (helper) => {
    const label = uniqueSeconds();
    const { server, reply, call, sleepers, pid } = await startServer(label);
    const target = helpers[helper](pid, sleepers()[0] ?? 0);
    expect(target).toBeDefined();
    process.kill(target ?? pid, 'SIGKILL');
    const text = await reply;
    expect(text).toMatch(/^exit_code: null\n/);
    expect(text).toContain('up');
    expect(sleepers()).toEqual([]);
    expect(await call(3, 'echo next')).toMatch(/^exit_code: 0\n/);
    server.stdin?.end();
    await once(server, 'exit');
  },
);

test.each(['fork server', 'supervisor', 'keeper'] as const)(
  'a stopped %s: the server ends within its limit on SIGTERM, and nothing survives',
  { timeout: 90_000 },
  async (helper) => {
    const label = uniqueSeconds();
    const { server, sleepers, pid } = await startServer(label);
    const target = helpers[helper](pid, sleepers()[0] ?? 0);
    expect(target).toBeDefined();
    process.kill(target ?? pid, 'SIGSTOP');
    const elapsed = createStopwatch();
    server.kill('SIGTERM');
    await once(server, 'exit');
    expect(elapsed()).toBeLessThan(endMs);
    for (let waited = 0; waited < 5_000 && sleepers().length > 0; waited += 50) await sleep(50);
    expect(sleepers()).toEqual([]);
  },
);
