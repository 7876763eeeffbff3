import { createHash } from 'node:crypto';
import { appendFileSync, chmodSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { beforeEach, expect, test } from 'vitest';
import { collect, createPlace, endOf, startReal, survivors } from '../support/nacre.ts';
import { needLandlock, needPrograms } from '../support/needs.ts';
import { openSocket } from '../support/socket.ts';

const narrow = 'the-token-with-a-narrow-list';
const tokens = `tokens:\n  - { name: narrow, sha256: ${createHash('sha256').update(narrow).digest('hex')}, allow: [git, ls] }\n`;

beforeEach(async (context) => {
  await needLandlock(context);
  needPrograms(context, 'git');
});

/** Adds a hook that no list contains; only the kernel sees that git runs it. Returns whether it ran since the last call. */
function addHook(folder: string): () => boolean {
  const hook = join(folder, '.git', 'hooks', 'pre-commit');
  writeFileSync(hook, `#!/bin/sh\necho ran > ${folder}/ran\n`);
  chmodSync(hook, 0o755);
  appendFileSync(join(folder, '.git', 'config'), '[user]\n\tname = a\n\temail = a@b\n');
  return () => {
    const isRun = existsSync(join(folder, 'ran'));
    rmSync(join(folder, 'ran'), { force: true });
    return isRun;
  };
}

/** Starts the built `nacre serve`: only that has the guard's program beside it. */
async function startServer(env: Record<string, string>) {
  const place = createPlace(env);
  mkdirSync(join(place.cwd, '.config', 'nacre'), { recursive: true });
  writeFileSync(join(place.cwd, '.config', 'nacre', 'config.yaml'), tokens);
  const child = startReal(['serve', '--port', '0', '--json'], place);
  const ended = endOf(child);
  const [out, err] = [collect(child.stdout), collect(child.stderr)];
  await expect.poll(out.text, { timeout: 30_000 }).toContain('\n');
  const greeting = JSON.parse(out.text().split('\n')[0] ?? '');
  const { address, token, mcp } = greeting as Record<'address' | 'token' | 'mcp', string>;
  return {
    ...{ address, token, mcp, cwd: place.cwd, stderr: err.text },
    async close() {
      child.kill('SIGTERM');
      await ended;
      return survivors(place.mark);
    },
  };
}

const commit = ['commit', '--allow-empty', '-m', 'x'];
const stopped = 'pre-commit was stopped by the kernel: not listed';

test('P12: the kernel enforces a closed list on its callers while other doors of the server have an open one', async () => {
  // SHELL_ALLOWLIST is unset, and its default contains npm and node.
  const here = await startServer({ ALLOWED_COMMANDS: 'git,ls', NACRE_TOOLS: 'all' });
  const client = new Client({ name: 'tester', version: '1.0.0' });
  const requestInit = { headers: { Authorization: `Bearer ${here.token}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(here.mcp), { requestInit }));
  const use = async (name: string, args: Record<string, unknown>) =>
    JSON.stringify(await client.callTool({ name, arguments: args }));
  const post = async (args: readonly string[], token = here.token) => {
    const headers = { Authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    const body = JSON.stringify({ command: 'git', args });
    return (await fetch(`${here.address}/api/shell`, { method: 'POST', headers, body })).json();
  };
  await post(['init', '-q']);
  const hasRun = addHook(here.cwd);

  const command = `git ${commit.join(' ')}`;
  for (let round = 0; round < 2; round += 1) {
    expect(await use('execute_command', { command })).toContain(stopped);
    expect(await use('Bash', { command })).toContain(stopped);
    expect(await use('start_command', { command, pty: true, wait_ms: 20_000 })).toContain(stopped);
    expect(await use('shell_execute', { command, working_directory: here.cwd })).toContain(stopped);
    expect(await post(commit, narrow)).toMatchObject({ warnings: [expect.stringContaining(stopped)] });
    expect(hasRun()).toBe(false);
    expect(await post(commit)).toMatchObject({ code: 0 });
    expect(hasRun()).toBe(true);
  }
  const socket = await openSocket(here.address, { authorization: `Bearer ${narrow}` });
  socket.send({ type: 'shell.run', id: 'one', command: 'git', args: commit });
  expect(await socket.exit('one')).toMatchObject({ hint: expect.stringContaining(stopped) });
  await socket.close();
  expect(hasRun()).toBe(false);
  await client.close();
  await expect
    .poll(here.stderr, { timeout: 30_000 })
    .toMatch(/exec auto: the kernel executes only .*exec auto for POST \/api\/shell: nothing is enforced/);
  expect(await here.close()).toEqual([]);
});
