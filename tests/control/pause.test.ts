import { existsSync } from 'node:fs';
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
