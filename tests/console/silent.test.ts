import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ServerCard } from '../../src/contract/console.ts';
import { isType, openConsole, pageHeaders, signIn } from '../support/console.ts';
import { serve, type TestServer } from '../support/http.ts';
import { connect } from '../support/mcp.ts';

const open = { ALLOWED_COMMANDS: '*', SHELL_ALLOWLIST: '*' };
const patient = { timeout: 120_000 };
let here: TestServer;
let operator: Record<string, string>;

beforeAll(async () => {
  here = await serve({ env: open });
  operator = pageHeaders(here, await signIn(here));
}, 300_000);
afterAll(async () => {
  expect(await here.close()).toEqual([]);
});

/** A server that accepts connections and never replies. */
async function startSilentServer() {
  const dir = join(here.cwd, '.local/state/nacre/control');
  mkdirSync(dir, { recursive: true });
  const path = join(dir, '1_silent.sock');
  writeFileSync(`${path}.secret`, 'unused');
  const sockets: Socket[] = [];
  const server = createServer((socket) => sockets.push(socket.resume()));
  server.listen(path);
  await once(server, 'listening');
  return {
    hasOpen: () => sockets.some((socket) => !socket.destroyed),
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

describe('a server that does not reply', { timeout: 300_000 }, () => {
  test('does not delay a page that opens', async () => {
    const silent = await startSilentServer();
    let quick = 0;
    for (let round = 0; round < 5; round += 1) {
      const page = await openConsole(here, operator);
      page.send({ type: 'watch' });
      await expect.poll(silent.hasOpen, patient).toBe(true);
      await page.until(isType('now'));
      // The console gives up on a reply after two seconds, and closes the connection.
      if (silent.hasOpen()) quick += 1;
      await page.close();
      await expect.poll(silent.hasOpen, patient).toBe(false);
    }
    expect(quick).toBeGreaterThan(0);
    await silent.close();
  });

  test('is shown with this problem until it replies again', async () => {
    const agent = await connect({ name: 'tester', env: { ...open, HOME: here.cwd } });
    const page = await openConsole(here, operator);
    page.send({ type: 'watch' });
    const last = (): ServerCard | undefined =>
      page.messages
        .flatMap((one) => (one.type === 'live' ? [one.change.servers] : []))
        .findLast((cards) => cards !== undefined)
        ?.find(({ pid }) => pid === agent.pid);
    await expect.poll(() => last()?.problem, patient).toBeNull();
    process.kill(agent.pid, 'SIGSTOP');
    await expect.poll(() => last()?.problem, patient).toBe('It does not reply.');
    process.kill(agent.pid, 'SIGCONT');
    await expect.poll(() => last()?.problem, patient).toBeNull();
    await page.close();
    await agent.close();
  });
});
