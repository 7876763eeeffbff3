import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'vitest';
import { createDeferred } from '../../src/support/timing.ts';
import { connect, eras } from '../support/mcp.ts';
import { runInProcess, sleep } from '../support/nacre.ts';

it.concurrent.for(eras)(
  'T9: a pause stops commands that wait for approval, over MCP %s',
  async (era, { expect }) => {
    const questions: string[] = [];
    const decided = createDeferred<boolean>();
    const server = await connect({
      era,
      env: { ALLOWED_COMMANDS: '*' },
      userFile: 'confirm: unlisted\n',
      async answer(message) {
        questions.push(message);
        return { action: 'accept', content: { approve: await decided.promise } };
      },
    });
    await expect.poll(() => server.stderr(), { timeout: 10_000 }).toContain('ready:');
    const calls = [
      server.use('start_command', { command: 'touch started; sleep 60', wait_ms: 100 }),
      server.call({ command: 'touch ran; sleep 60' }),
    ];
    await expect.poll(() => questions.length, { timeout: 10_000 }).toBe(2);
    expect((await runInProcess(['pause'], server)).stdout).toContain('1 server paused');
    decided.resolve(true);
    for (const { isError } of await Promise.all(calls)) expect(isError).toBe(true);
    await sleep(200);
    for (const name of ['started', 'ran']) expect(existsSync(join(server.cwd, name))).toBe(false);
    expect((await server.use('list_commands', { status: 'running' })).structured).toEqual({ commands: [] });
    expect(await server.close()).toEqual([]);
  },
);

it.concurrent('ps, stop and pause work while the settings file is invalid, and warn', async ({ expect }) => {
  const server = await connect({ userFile: 'allowed_commands: [sleep]\nstate_dir: ./state\n' });
  const started = await server.use('start_command', { command: 'sleep 60', wait_ms: 100 });
  await server.use('start_command', { command: 'sleep 61', wait_ms: 100 });
  const file = join(server.cwd, '.config/nacre/config.yaml');
  writeFileSync(file, 'alowed_commands: [sleep]\nstate_dir: ./state\n');
  const nacre = (...argv: string[]) => runInProcess(argv, server);
  const warning = expect.stringContaining('nacre: warning: ');
  expect(await nacre('ps')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('sleep 61'),
    stderr: warning,
  });
  const { command_id: id } = started.structured as { command_id: string };
  expect(await nacre('stop', id)).toMatchObject({ code: 0, stderr: warning });
  expect(await nacre('pause')).toMatchObject({ code: 0, stdout: expect.stringContaining('1 server paused') });
  expect((await server.use('list_commands', { status: 'running' })).structured).toEqual({ commands: [] });
  expect((await nacre('pause', '--state-dirr', 'x')).code).toBe(125);
  expect(await nacre('allow', 'ls')).toMatchObject({
    code: 125,
    stderr: expect.stringContaining('alowed_commands'),
  });
  expect((await nacre('resume')).code).toBe(0);
  expect(await server.close()).toEqual([]);
});
