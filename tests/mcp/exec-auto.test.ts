import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { builtCli } from '../support/build.ts';
import { connect } from '../support/mcp.ts';
import { collect, createPlace, endOf, startReal, survivors } from '../support/nacre.ts';
import { needLandlock, needPrograms } from '../support/needs.ts';
import { openSocket } from '../support/socket.ts';
import type { McpServer } from './shared-servers.ts';

let server: McpServer | undefined;
afterEach(async () => {
  expect(await server?.close()).toEqual(server ? [] : undefined);
  server = undefined;
});
beforeEach(async (context) => {
  await needLandlock(context);
  needPrograms(context, 'git');
});

/** Creates a repository whose hook is a program that no list contains; policy cannot see that git runs it. */
function addHook(folder: string): void {
  mkdirSync(join(folder, 'hooks'));
  writeFileSync(join(folder, 'hooks', 'pre-commit'), '#!/bin/sh\necho ran > hook-ran\n');
  chmodSync(join(folder, 'hooks', 'pre-commit'), 0o755);
  writeFileSync(
    join(folder, '.gitconfig'),
    `[core]\n\thooksPath = ${folder}/hooks\n[user]\n\tname = a\n\temail = a@b\n`,
  );
}

const commit = 'git init -q repo; git -C repo commit -q --allow-empty -m first; ls repo';
const stopped = 'pre-commit was stopped by the kernel: not listed';

const auditLog = (cwd: string) => {
  const state = join(cwd, '.local', 'state', 'nacre');
  const files = readdirSync(state, { recursive: true, encoding: 'utf8' });
  return files
    .filter((name) => name.endsWith('.jsonl'))
    .map((name) => readFileSync(join(state, name), 'utf8'))
    .join('');
};

describe('by default, under a closed list', () => {
  test('the kernel stops what policy cannot see; every tool’s reply and the audit log say so', async () => {
    server = await connect({ env: { NACRE_PRESET: 'git', NACRE_TOOLS: 'all' } });
    const { cwd, client } = server;
    addHook(cwd);
    const use = async (name: string, args: Record<string, unknown>) =>
      JSON.stringify(await client.callTool({ name, arguments: args }));
    const replies = {
      execute_command: await use('execute_command', { command: commit }),
      start_command: await use('start_command', { command: commit, wait_ms: 20_000, name: 'a' }),
      'at a terminal': await use('start_command', { command: commit, wait_ms: 20_000, name: 'b', pty: true }),
      Bash: await use('Bash', { command: commit }),
      shell_execute: await use('shell_execute', { command: commit, working_directory: cwd }),
    };
    for (const [door, text] of Object.entries(replies)) {
      expect(text, door).toContain(stopped);
      expect(text, door).not.toContain('hook-ran');
    }
    expect(await use('read_output', { command_id: 'a' })).toContain(stopped);
    const { structured } = await server.use('Bash', { command: commit, run_in_background: true });
    await expect.poll(() => use('BashOutput', { bash_id: structured.bash_id })).toContain(stopped);
    await expect.poll(() => auditLog(cwd).split('"denied_programs":[').length - 1).toBe(6);
  });

  test('a program that the user adds runs with the next command', async () => {
    const settings = (names: string) => `allowed_commands: [${names}]\nsandbox: workspace\n`;
    server = await connect({ userFile: settings('ls') });
    const cwd = join(server.cwd, 'project');
    mkdirSync(cwd);
    expect((await server.call({ command: 'id -u', cwd })).isError).toBe(true);
    writeFileSync(join(server.cwd, '.config', 'nacre', 'config.yaml'), settings('ls, id'));
    expect((await server.call({ command: 'id -u', cwd })).text).toMatch(/exit_code: 0\nstdout: \|\n {2}\d+/);
  });

  test('over HTTP, over a WebSocket, and with nacre run, too', async () => {
    const place = createPlace({ SHELL_ALLOWLIST: 'git,ls', ALLOWED_COMMANDS: 'git,ls' });
    addHook(place.cwd);
    const child = startReal(['serve', '--port', '0', '--json'], place);
    const ended = endOf(child);
    const out = collect(child.stdout);
    await expect.poll(out.text, { timeout: 20_000 }).toContain('\n');
    const { address, token } = JSON.parse(out.text().split('\n')[0] ?? '');
    const bearer = { authorization: `Bearer ${token}` };
    const post = async (...args: readonly string[]) => {
      const headers = { ...bearer, 'content-type': 'application/json' };
      const body = JSON.stringify({ command: 'git', args });
      return (await fetch(`${address}/api/shell`, { method: 'POST', headers, body })).json();
    };
    await post('init', '-q');
    const args = ['commit', '--allow-empty', '-m', 'x'];
    expect(await post(...args)).toMatchObject({ warnings: [expect.stringContaining(stopped)] });
    const socket = await openSocket(address, bearer);
    socket.send({ type: 'shell.run', id: 'one', command: 'git', args });
    expect(await socket.exit('one')).toMatchObject({ hint: expect.stringContaining(stopped) });
    await socket.close();
    const run = await endOf(startReal(['run', 'git commit --allow-empty -m x'], place));
    expect(run.stderr).toContain(stopped);
    child.kill('SIGTERM');
    await ended;
    expect(readdirSync(place.cwd)).not.toContain('hook-ran');
    expect(auditLog(place.cwd).split('"denied_programs":[').length - 1).toBe(3);
    expect(await survivors(place.mark)).toEqual([]);
  });

  test('inside a program, too', async () => {
    const place = createPlace();
    addHook(place.cwd);
    const code = `import { createNacre } from '${builtCli.replace('cli.js', 'index.js')}';
      const nacre = await createNacre({ tools: ['bash'], allowedCommands: ['git', 'ls'] });
      console.log((await nacre.tools.bash.run({ command: '${commit}' })).output);
      await nacre.close();`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', code], place);
    const { stdout } = await endOf(child);
    expect(stdout).toContain(stopped);
    expect(stdout).not.toContain('hook-ran');
    expect(await survivors(place.mark)).toEqual([]);
  });
});

test('under an open list the start says that nothing is enforced, and a command runs as before', async () => {
  server = await connect({ env: { ALLOWED_COMMANDS: 'git,ls,make' } });
  addHook(server.cwd);
  const { text } = await server.call({ command: commit });
  expect(text).toContain('hook-ran');
  await expect
    .poll(server.stderr, { timeout: 10_000 })
    .toMatch(/exec auto: nothing is enforced by the kernel.*make/);
});
