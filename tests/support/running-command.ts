import { expect } from 'vitest';
import type { CommandCard } from '../../src/contract/console.ts';
import type { TestServer } from './http.ts';

/** A command that runs until `stop` is called. */
export interface RunningCommand {
  readonly id: string;
  readonly startedAt: number;
  stop(): Promise<void>;
}

/** Runs a script of bash by POST; resolves once it runs. `words` are in the text of no other command of the server. */
export async function startRunning(
  server: TestServer,
  script: string,
  words: string,
): Promise<RunningCommand> {
  const call = server.shell('bash', ['-c', script]);
  const find = async () => {
    const { body } = await server.send(`/api/commands?q=${words}`, { headers: server.bearer });
    return (body as { commands: CommandCard[] }).commands[0];
  };
  await expect.poll(async () => (await find())?.state).toBe('running');
  const { id = '', started_at } = (await find()) ?? {};
  return {
    id,
    startedAt: Date.parse(started_at ?? ''),
    async stop() {
      await server.post(`/api/commands/${id}/stop`, {});
      await call;
    },
  };
}
