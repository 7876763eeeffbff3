// A command is shown within 300 ms of its start, whichever door, server and machine it uses.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { CommandCard } from '../../src/contract/console.ts';
import { builtLibrary } from '../support/build.ts';
import { isType, openConsole, pageHeaders, signIn } from '../support/console.ts';
import { serve, type TestServer } from '../support/http.ts';
import { createStandIns } from '../support/machines.ts';
import { connect } from '../support/mcp.ts';
import { startReal } from '../support/nacre.ts';

const rounds = 3;
const shownMs = 300;
const machines = createStandIns(['gpu1']);
const open = { PATH: machines.path, ALLOWED_COMMANDS: '*', SHELL_ALLOWLIST: '*' };
const userFile = 'machines: { gpu1: { ssh: gpu1, allow: [echo, sleep] } }\n';
let here: TestServer;
let agent: Awaited<ReturnType<typeof connect>>;
let remote: Client;
let page: Awaited<ReturnType<typeof openConsole>>;

beforeAll(async () => {
  here = await serve({ env: open, userFile });
  agent = await connect({ name: 'tester', env: { ...open, HOME: here.cwd } });
  remote = new Client({ name: 'far-client', version: '1.0.0' }, {});
  const requestInit = { headers: here.bearer };
  await remote.connect(new StreamableHTTPClientTransport(new URL(here.mcp), { requestInit }));
  page = await openConsole(here, pageHeaders(here, await signIn(here)));
  page.send({ type: 'watch' });
  await page.until(isType('now'));
}, 300_000);
afterAll(async () => {
  await page.close();
  await remote.close();
  await agent.close();
  expect(await here.close()).toEqual([]);
});

const place = () => ({ cwd: here.cwd, env: { ...here.env, ...open } });
const callRemote = (input: object) => remote.callTool({ name: 'execute_command', arguments: { ...input } });
const library = `import { createNacre } from ${JSON.stringify(builtLibrary)};
const nacre = await createNacre({ allowedCommands: ['echo', 'sleep'] });
await nacre.tools.bash.run({ command: process.argv[2] });
await nacre.close();`;
async function runLibrary(command: string): Promise<void> {
  const path = join(here.cwd, 'program.mjs');
  writeFileSync(path, library);
  await once(spawn(process.execPath, [path, command], place()), 'exit');
}

// The last one runs on another machine; its server writes the records here.
const doors: Readonly<Record<string, (command: string) => Promise<unknown>>> = {
  'a stdio server of another client': (command) => agent.call({ command, cwd: here.cwd }),
  'POST /api/shell': (command) => here.shell('bash', ['-c', command]),
  'POST /api/tools': (command) => here.post('/api/tools/execute_command', { command }),
  'MCP over HTTP': (command) => callRemote({ command }),
  'nacre run': (command) => once(startReal(['run', command], place()), 'exit'),
  'a program with the library': runLibrary,
  'another machine': (command) => agent.call({ command, on: 'gpu1' }),
};

for (const [door, run] of Object.entries(doors))
  test(`a command is shown within 300 ms of its start: ${door}`, { timeout: 120_000 }, async () => {
    const took: number[] = [];
    let wanted = '';
    const look = () => {
      const card = page.messages
        .flatMap((one) => (one.type === 'live' ? one.cards : []))
        .find((one: CommandCard) => wanted !== '' && one.command.includes(wanted));
      if (!card) return;
      took.push(Date.now() - Date.parse(card.started_at ?? card.asked_at));
      wanted = '';
    };
    page.socket.on('message', look);
    for (let round = 1; round <= rounds; round += 1) {
      wanted = `${door.replaceAll(/\W/g, '-')}-${round}-x`;
      await run(`echo ${wanted}; sleep 0.4`);
      await expect.poll(() => took.length, { timeout: 60_000 }).toBe(round);
    }
    page.socket.off('message', look);
    expect(took.toSorted((one, other) => one - other)[Math.floor(rounds / 2)], String(took)).toBeLessThan(
      shownMs,
    );
  });
