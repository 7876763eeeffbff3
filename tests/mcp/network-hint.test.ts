import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, test } from 'vitest';
import { createNacre } from '../../src/index.ts';
import { serve as serveHttp } from '../support/http.ts';
import { createPlace, surroundingsOf, survivors } from '../support/nacre.ts';
import { needLevel, needPrograms } from '../support/needs.ts';
import { openSocket } from '../support/socket.ts';
import { shareServers } from './shared-servers.ts';

// Not below /tmp, because a sandbox mounts its own there.
const cwd = realpathSync(mkdtempSync('/var/tmp/nacre-network-'));
const log = 'curl: (6) Could not resolve host: example.com\n';
writeFileSync(join(cwd, 'old.log'), log);
afterAll(() => rmSync(cwd, { recursive: true }));

const env = { ALLOWED_COMMANDS: '*', NACRE_SANDBOX: 'workspace', NACRE_WORKSPACE: cwd, NACRE_TOOLS: 'all' };
const isOff =
  /The network is off in this sandbox\. The user can allow hosts with the setting network_allow \(NACRE_NETWORK_ALLOW=HOST,HOST\)/;
const serve = shareServers();
const download = 'curl -sS https://example.com/';

beforeEach(async (context) => {
  await needLevel(context, 'namespace');
  needPrograms(context, 'curl');
});

describe.concurrent('a command that needs the network in a sandbox without one', () => {
  test('execute_command: says so in text and data', async ({ expect }) => {
    const { call } = await serve({ env });
    const { text, structured, isError } = await call({ command: download, cwd });
    expect({ structured, isError }).toMatchObject({
      isError: false,
      structured: { exit_code: 6, warnings: [expect.stringMatching(isOff)] },
    });
    expect(text.replace(/\s+/g, ' ')).toMatch(isOff);
  });

  test('execute_command: says so after a timeout', async ({ expect }) => {
    const { call } = await serve({ env });
    const command = 'until curl -s https://example.com/; do sleep 0.1; done';
    const { structured, isError } = await call({ command, cwd, timeout_ms: 700 });
    expect({ structured, isError }).toMatchObject({
      isError: true,
      structured: { exit_code: null, warnings: [expect.stringMatching(isOff)] },
    });
  });

  test('execute_command: does not for other failures, or for a search that finds such a message', async ({
    expect,
  }) => {
    const { call } = await serve({ env });
    for (const command of [
      'grep resolve old.log',
      'cat old.log; false',
      'curl -sS http://localhost:1/',
      'false',
    ]) {
      expect((await call({ command, cwd })).structured).not.toHaveProperty('warnings');
    }
  });

  test('read_output: says so once the command has ended, even if the message was read before', async ({
    expect,
  }) => {
    const { use } = await serve({ env });
    const command = `${download}; code=$?; read -r; exit "$code"`;
    const started = await use('start_command', { command, cwd, wait_ms: 10_000, wait_for: 'resolve' });
    expect(started.structured).not.toHaveProperty('hint');
    const { command_id } = started.structured;
    const { structured } = await use('write_input', { command_id, text: '\n', wait_ms: 10_000 });
    expect(structured).toMatchObject({ exit_code: 6, stderr: '', hint: expect.stringMatching(isOff) });
  });

  test('Bash and BashOutput: say so in a note', async ({ expect }) => {
    // A connection of its own, because a hint is sent once.
    const { use } = await serve({ env, name: 'bash' });
    await use('Bash', { command: `cd ${cwd}` });
    expect(await use('Bash', { command: download })).toMatchObject({
      text: expect.stringMatching(isOff),
      isError: true,
    });
    const { structured } = await use('Bash', { command: download, run_in_background: true });
    const read = () => use('BashOutput', { bash_id: structured.bash_id });
    await expect
      .poll(read)
      .toMatchObject({ text: expect.stringMatching(isOff), structured: { exit_code: 6 } });
  });

  test('shell_execute: says so in a text block of its own', async ({ expect }) => {
    const { client } = await serve({ env });
    const { content } = await client.callTool({
      name: 'shell_execute',
      arguments: { command: download, working_directory: cwd },
    });
    expect(content).toEqual(expect.arrayContaining([{ type: 'text', text: expect.stringMatching(isOff) }]));
  });

  test('HTTP: POST /api/shell says so in `warnings`, and a WebSocket in the `hint` of shell.exit', async ({
    expect,
  }) => {
    const server = await serveHttp({ env: { ...env, SHELL_ALLOWLIST: 'curl' } });
    expect(await server.shell('curl', ['-sS', 'https://example.com/'], { cwd })).toMatchObject({
      status: 200,
      body: { code: 6, warnings: [expect.stringMatching(isOff)] },
    });
    const socket = await openSocket(server.address, server.bearer);
    socket.send({ type: 'shell.run', id: 'a', command: 'curl', args: ['-sS', 'https://example.com/'], cwd });
    expect(await socket.exit('a')).toMatchObject({ code: 6, hint: expect.stringMatching(isOff) });
    await socket.close();
    expect(await server.close()).toEqual([]);
  });

  test('in a program: `run` says so in `warnings`', async ({ expect }) => {
    const place = createPlace();
    const nacre = await createNacre({ sandbox: 'workspace', loginEnv: 'never' }, surroundingsOf(place));
    expect(await nacre.run(download, { workingDir: cwd })).toMatchObject({
      exitCode: 6,
      warnings: [expect.stringMatching(isOff)],
    });
    await nacre.close();
    expect(await survivors(place.mark)).toEqual([]);
  });
});
