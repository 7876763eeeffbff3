import { createServer } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { connect } from '../support/mcp.ts';
import { runInProcess, sleep } from '../support/nacre.ts';
import { needLevel, needPrograms } from '../support/needs.ts';
import { commandLine, processesWith } from '../support/processes.ts';
import { serverScript } from '../support/room-server.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

type Server = Awaited<ReturnType<typeof connect>>;
const serve = async (env: Record<string, string> = {}): Promise<Server> => {
  const args = ['--tools', 'all', '--cwd', temporaryFolder()];
  const started = await connect({ env: { ALLOWED_COMMANDS: '*', NACRE_SANDBOX: 'strict', ...env }, args });
  // The control socket is opened after the warm-up.
  for (let tries = 0; tries < 1_000 && !started.stderr().includes('ready:'); tries += 1) await sleep(10);
  return started;
};
let server: Server;
beforeAll(async () => {
  server = await serve();
});
beforeEach(async (context) => {
  needPrograms(context, 'nsenter');
  await needLevel(context, 'namespace');
});
afterAll(async () => expect(await server.close()).toEqual([]));

const nacre = (...words: string[]) => runInProcess(words, server);
const start = async (command: string, use = server.use) =>
  String((await use('start_command', { command, wait_ms: 0 })).structured.command_id);
const stop = (command_id: string) => server.use('stop_command', { command_id });
const rows = async () => (await nacre('port')).stdout;
const listens = (port: number) => expect.poll(rows).toMatch(new RegExp(`^${port} `, 'm'));
const page = async (port: number) => {
  try {
    return await (await fetch(`http://127.0.0.1:${port}/`)).text();
  } catch {
    return 'refused';
  }
};
/** A port of this machine that was free a moment ago. */
const freePort = async () => {
  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
  const { port } = taken.address() as { port: number };
  await new Promise((resolve) => taken.close(resolve));
  return port;
};
const records = async () => {
  const { stdout } = await nacre('audit', 'export');
  const all = stdout.split('\n').filter(Boolean);
  return all.map((line) => JSON.parse(line)).filter(({ kind }) => kind.startsWith('port_'));
};

describe('nacre port', () => {
  test('opens the port of a sandboxed command on 127.0.0.1, lists it, and closes it', async () => {
    const [inside, outside] = [await freePort(), await freePort()];
    const id = await start(serverScript(inside, 'from the sandbox'));
    await listens(inside);
    expect(await page(inside)).toBe('refused');
    const opened = await nacre('port', String(inside), '--to', String(outside));
    expect(opened.stderr).toBe('');
    expect(opened.stdout).toContain(`http://localhost:${outside} is port ${inside} of `);
    expect(await Promise.all([page(outside), page(outside)])).toEqual([
      'from the sandbox',
      'from the sandbox',
    ]);
    expect(await rows()).toMatch(
      new RegExp(`^${inside} +http://localhost:${outside} +mcp_\\w+ +${id} `, 'm'),
    );
    const [row] = JSON.parse((await nacre('port', '--json')).stdout);
    expect(row).toMatchObject({ port: inside, host_port: outside, command_id: id });
    expect((await nacre('port', '--close', String(outside))).code).toBe(0);
    expect(await page(outside)).toBe('refused');
    expect(connectors()).toEqual([]);
    const mine = (await records()).filter(({ host_port }) => host_port === outside);
    expect(mine).toMatchObject([
      { kind: 'port_opened', port: inside, listener: id, client: 'terminal' },
      { kind: 'port_closed', reason: 'closed by the user' },
    ]);
    expect((await nacre('history')).stdout).toContain(`port ${inside} opened on 127.0.0.1:${outside}`);
    await stop(id);
  });

  test('closes a port with the command that listens on it', async () => {
    const port = await freePort();
    const id = await start(serverScript(port, 'hello'));
    await listens(port);
    await nacre('port', String(port), '--for', id);
    expect(await page(port)).toBe('hello');
    await stop(id);
    await expect.poll(() => page(port)).toBe('refused');
    await expect.poll(connectors).toEqual([]);
    await expect
      .poll(async () => (await records()).at(-1))
      .toMatchObject({ kind: 'port_closed', reason: expect.stringContaining('listens') });
  });

  test('finds a server that a persistent shell runs in the background', async () => {
    const port = await freePort();
    await server.use('Bash', { command: `${serverScript(port, 'from Bash')} > /dev/null 2>&1 &` });
    await listens(port);
    await nacre('port', String(port));
    expect(await page(port)).toBe('from Bash');
    await server.use('Bash', { command: 'kill %1; wait' });
    await expect.poll(connectors).toEqual([]);
    expect(await page(port)).toBe('refused');
  });

  test('says what is wrong, and what to do', async () => {
    const port = await freePort();
    expect((await nacre('port', String(port))).stderr).toMatch(
      /No sandboxed command listens on port \d+[\s\S]*nacre port lists/,
    );
    expect((await nacre('port', '70000')).stderr).toContain('PORT must be a port from 1 to 65535');
    expect((await nacre('port', '--to', '8080')).stderr).toContain('nacre port accepts PORT with --to');
    expect((await nacre('port', '--close', String(port))).stderr).toContain(
      `No server has opened port ${port}`,
    );
    const id = await start(serverScript(port, 'hello'));
    await listens(port);
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(port, '127.0.0.1', resolve));
    const refused = await nacre('port', String(port));
    expect(refused.stderr).toMatch(new RegExp(`Port ${port} of 127.0.0.1 is in use[\\s\\S]*--to`));
    expect(refused.code).not.toBe(0);
    expect(connectors()).toEqual([]);
    await new Promise((resolve) => taken.close(resolve));
    await stop(id);
  });
});

test('the setting ports opens a port as soon as a command listens on it, and the end of the server closes it', async () => {
  const [inside, outside] = [await freePort(), await freePort()];
  const other = await serve({ NACRE_PORTS: `${inside}:${outside}` });
  await start(serverScript(inside, 'opened by a setting'), other.use);
  await expect.poll(() => page(outside)).toBe('opened by a setting');
  expect(await other.close()).toEqual([]);
  expect(await page(outside)).toBe('refused');
});

/** nacre's processes that connect to ports in sandboxes. */
function connectors(): number[] {
  return processesWith(server.mark).filter((pid) => commandLine(pid).includes('tryNext'));
}
