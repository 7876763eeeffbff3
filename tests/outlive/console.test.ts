import { afterAll, beforeAll, expect, test } from 'vitest';
import type { CommandCard } from '../../src/contract/console.ts';
import { serve, type TestServer } from '../support/http.ts';
import { connect } from '../support/mcp.ts';
import { survivors } from '../support/nacre.ts';

const env = { ALLOWED_COMMANDS: '*', NACRE_OUTLIVE: 'auto' };
let here: TestServer;
beforeAll(async () => {
  here = await serve({ env });
});
afterAll(async () => expect(await here.close()).toEqual([]));

test('the console shows a command that outlived its server as running, and pausing ends it', async () => {
  const agent = await connect({ name: 'agent', env: { ...env, HOME: here.cwd } });
  await agent.use('start_command', { command: 'sleep 7741', name: 'dev' });
  process.kill(agent.pid, 'SIGKILL');
  const state = async () => {
    const { body } = await here.send('/api/commands?q=7741', { headers: here.bearer });
    return (body as { commands: readonly CommandCard[] }).commands[0]?.state;
  };
  await expect.poll(() => isGone(agent.pid), { timeout: 20_000 }).toBe(true);
  // No page is open, so nothing has asked the worker yet.
  expect(await state()).toBe('running');
  const paused = await here.post('/api/pause', { paused: true });
  expect(paused).toMatchObject({ status: 200, body: { paused: true } });
  expect(await survivors(agent.mark)).toEqual([]);
  await here.post('/api/pause', { paused: false });
  await expect.poll(state, { timeout: 20_000 }).toBe('lost');
});

test('the console shows the output of a command that outlived its server, types into it and stops it', {
  timeout: 120_000,
}, async () => {
  const agent = await connect({ name: 'agent', env: { ...env, HOME: here.cwd } });
  const script = 'echo begun 7742; read line; echo "got $line"; sleep 300';
  const started = await agent.use('start_command', { command: script, wait_for: 'begun', pty: true });
  const id = String(started.structured.command_id);
  process.kill(agent.pid, 'SIGKILL');
  await expect.poll(() => isGone(agent.pid), { timeout: 20_000 }).toBe(true);
  const shown = async () => {
    const reply = await here.send(`/api/commands/${id}/output?from=0`, { headers: here.bearer });
    return [reply.status, JSON.stringify(reply.body)];
  };
  const find = async () => (await here.send(`/api/commands/${id}`, { headers: here.bearer })).body;
  await expect.poll(find).toMatchObject({ output: 'live', card: { state: 'running' } });
  expect(await shown()).toEqual([200, expect.stringContaining('begun 7742')]);
  expect(await here.post(`/api/commands/${id}/type`, { text: 'hello', keys: ['Enter'] })).toMatchObject({
    status: 200,
  });
  await expect.poll(shown).toEqual([200, expect.stringContaining('got hello')]);
  expect(await here.post(`/api/commands/${id}/stop`, {})).toMatchObject({ status: 200 });
  await expect.poll(() => survivors(agent.mark)).toEqual([]);
  expect(await shown()).toEqual([200, expect.stringContaining('got hello')]);
});

function isGone(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return false;
  } catch {
    return true;
  }
}
