import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { connect } from '../support/mcp.ts';
import { collect, createPlace, endOf, startReal } from '../support/nacre.ts';
import { needLandlock, needPrograms } from '../support/needs.ts';
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

describe('by default, under a closed list', () => {
  test('the kernel stops what policy cannot see; the reply and the audit log say so', async () => {
    server = await connect({ env: { NACRE_PRESET: 'git', NACRE_TOOLS: 'terminal,bash' } });
    addHook(server.cwd);
    for (const tool of ['execute_command', 'Bash']) {
      const { text } = await server.use(tool, { command: commit });
      expect(text).toContain(stopped);
      expect(text).not.toContain('hook-ran');
    }
    const state = join(server.cwd, '.local', 'state', 'nacre');
    const files = readdirSync(state, { recursive: true, encoding: 'utf8' }).filter((name) =>
      name.endsWith('.jsonl'),
    );
    const log = files.map((name) => readFileSync(join(state, name), 'utf8')).join('');
    expect(log).toContain('"denied_programs":[');
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

  test('over HTTP, too', async () => {
    const place = createPlace({ SHELL_ALLOWLIST: 'git,ls', ALLOWED_COMMANDS: 'git,ls' });
    addHook(place.cwd);
    const child = startReal(['serve', '--port', '0', '--json'], place);
    const out = collect(child.stdout);
    await expect.poll(() => out.text(), { timeout: 10_000 }).toContain('\n');
    const { address, token } = JSON.parse(out.text().split('\n')[0] ?? '') as Record<string, string>;
    const reply = await fetch(`${address}/api/shell`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ command: commit }),
    });
    expect(await reply.text()).not.toContain('hook-ran');
    child.kill('SIGTERM');
    await endOf(child);
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
