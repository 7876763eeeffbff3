import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { expect, test, vi } from 'vitest';
import { pack, run } from '../support/packed.ts';

// npm takes several seconds on a busy machine.
vi.setConfig({ testTimeout: 90_000 });

const packed = pack();
const home = join(packed.folder, 'home');
const empty = join(packed.folder, 'empty');
for (const folder of [home, empty]) mkdirSync(folder);
const npx = ['--yes', `--package=${packed.tarball}`, 'nacre'];

test('npx runs the package from its tarball in an empty folder, without network access', () => {
  const use = (...args: string[]) => run('npx', [...npx, ...args], { cwd: empty, home });
  expect(use('run', 'echo $((1 + 1))')).toBe('2\n');
  expect(use('check', 'ls')).toContain('allow');
  expect(readdirSync(empty)).toEqual([]);
});

test('a global installation has the command and its man page', () => {
  const prefix = join(packed.folder, 'prefix');
  const args = ['install', '--global', '--omit=optional', '--prefix', prefix, packed.tarball];
  run('npm', args, { cwd: empty, home });
  expect(readFileSync(join(prefix, 'share/man/man1/nacre.1'), 'utf8')).toContain('.TH NACRE 1');
  expect(run(join(prefix, 'bin/nacre'), ['--help'], { cwd: empty, home })).toContain('Usage: nacre COMMAND');
});

test('an MCP client can start the package with npx', async () => {
  const client = new Client({ name: 'tester', version: '1' });
  const env = { PATH: process.env.PATH ?? '', HOME: home, ALLOWED_COMMANDS: 'echo' };
  const offline = { npm_config_cache: join(home, 'npm-cache'), npm_config_offline: 'true' };
  await client.connect(
    new StdioClientTransport({
      command: 'npx',
      args: [...npx, 'mcp'],
      env: { ...env, ...offline },
      cwd: empty,
      stderr: 'ignore',
    }),
  );
  try {
    const reply = await client.callTool({ name: 'execute_command', arguments: { command: 'echo here' } });
    expect(reply.structuredContent).toMatchObject({ exit_code: 0, stdout: 'here\n' });
  } finally {
    await client.close();
  }
});
