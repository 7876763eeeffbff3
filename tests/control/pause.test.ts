import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { connect, eras } from '../support/mcp.ts';
import { runInProcess, sleep } from '../support/nacre.ts';

type Server = Awaited<ReturnType<typeof connect>>;
let server: Server;
afterEach(async () => {
  expect(await server.close()).toEqual([]);
});

const nacre = (...words: string[]) => runInProcess(words, server);

it.each(eras)('T9: a pause stops commands that wait for approval, over MCP %s', async (era) => {
  const questions: string[] = [];
  let decide = (_approve: boolean) => {};
  const decided = new Promise<boolean>((resolve) => {
    decide = resolve;
  });
  server = await connect({
    era,
    env: { ALLOWED_COMMANDS: '*' },
    userFile: 'confirm: unlisted\n',
    async answer(message) {
      questions.push(message);
      return { action: 'accept', content: { approve: await decided } };
    },
  });
  await expect.poll(() => server.stderr(), { timeout: 10_000 }).toContain('ready:');
  const calls = [
    server.use('start_command', { command: 'touch started; sleep 60', wait_ms: 100 }),
    server.call({ command: 'touch ran; sleep 60' }),
  ];
  await expect.poll(() => questions.length, { timeout: 10_000 }).toBe(2);
  expect((await nacre('pause')).stdout).toContain('1 server paused');
  decide(true);
  for (const { isError } of await Promise.all(calls)) expect(isError).toBe(true);
  await sleep(200);
  for (const name of ['started', 'ran']) expect(existsSync(join(server.cwd, name))).toBe(false);
  expect((await server.use('list_commands', { status: 'running' })).structured).toEqual({ commands: [] });
});
