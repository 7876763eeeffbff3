import { describe, expect, it } from 'vitest';
import { connect, eras, openRaw } from '../support/mcp.ts';
import { sleep, survivors } from '../support/nacre.ts';

describe.concurrent.each(eras)('progress over MCP %s', (era) => {
  it('B17: a call with a progress token hears of lines and the newest one while the command runs', async () => {
    const server = await connect({ era, env: { ALLOWED_COMMANDS: '*' } });
    const heard: { progress: number; message?: string }[] = [];
    const command = 'for i in {1..12}; do echo line $i; sleep 0.3; done';
    await server.call({ command }, { onprogress: (one: { progress: number }) => heard.push(one) });
    expect(heard.length).toBeGreaterThanOrEqual(2);
    expect(heard[0]?.message).toMatch(/^\d+ lines after \d s: line \d+$/);
    expect(heard.map(({ progress }) => progress)).toEqual(
      [...new Set(heard.map(({ progress }) => progress))].sort((a, b) => a - b),
    );
    expect(await server.close()).toEqual([]);
  });
});

describe.concurrent('progress', () => {
  it('of a silent command comes within ten seconds, and none without a token or after the answer', async () => {
    const server = await openRaw();
    const [told] = await Promise.all([
      server.call({ command: 'sleep 8.6' }, { _meta: { progressToken: 'me' } }),
      server.call({ command: 'for i in 1 2 3; do echo $i; sleep 0.5; done' }),
    ]);
    await sleep(1_200);
    const messages = server.messages();
    const heard = messages.filter(({ method }) => method === 'notifications/progress');
    expect(heard.map(({ params }) => params)).toEqual([
      { progressToken: 'me', progress: expect.closeTo(8, 0), message: '0 lines after 8 s' },
    ]);
    expect(messages.findIndex(({ id }) => id === told.id)).toBe(messages.length - 1);
    server.child.stdin.end();
    expect(await survivors(server.mark)).toEqual([]);
  });
});
