import { describe, expect, it } from 'vitest';
import { connect, eras, openRaw } from '../support/mcp.ts';
import { sleep, survivors } from '../support/nacre.ts';

describe.concurrent('B17: progress notifications', () => {
  it.each(eras)(
    'over MCP %s report the number of lines and the newest one while a command runs',
    async (era) => {
      const server = await connect({ era, env: { ALLOWED_COMMANDS: '*' } });
      const notifications: { progress: number; message?: string }[] = [];
      const command = 'for i in {1..9}; do echo line $i; sleep 0.3; done';
      await server.call({ command }, { onprogress: (one: { progress: number }) => notifications.push(one) });
      expect(notifications.length).toBeGreaterThanOrEqual(2);
      expect(notifications[0]?.message).toMatch(/^\d+ lines after \d s: line \d+$/);
      const values = notifications.map(({ progress }) => progress);
      expect(values).toEqual([...new Set(values)].sort((a, b) => a - b));
      expect(await server.close()).toEqual([]);
    },
  );

  it('are neither sent without a progressToken nor after the result', async () => {
    const server = await openRaw();
    const command = 'for i in 1 2 3; do echo $i; sleep 0.5; done';
    const [watched] = await Promise.all([
      server.call({ command: 'echo one; sleep 1.4' }, { _meta: { progressToken: 'me' } }),
      server.call({ command }),
    ]);
    await sleep(1_200);
    const messages = server.messages();
    const progress = messages.filter(({ method }) => method === 'notifications/progress');
    expect(progress.map(({ params }) => params)).toEqual([
      { progressToken: 'me', progress: expect.closeTo(1, 0), message: '1 line after 1 s: one' },
    ]);
    const resultAt = messages.findIndex(({ id }) => id === watched.id);
    expect(messages.findIndex(({ method }) => method === 'notifications/progress')).toBeLessThan(resultAt);
    server.child.stdin.end();
    expect(await survivors(server.mark)).toEqual([]);
  });
});
