import { existsSync, linkSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterEach, describe, expect, test } from 'vitest';
import { dataOf } from '../support/mcp.ts';
import { createPlace, survivors } from '../support/nacre.ts';
import { cliFor, type User, users } from '../support/users.ts';

// `users` has an ordinary user if the tests run as root; else its only entry is the current user.
const ordinary = users.at(-1) ?? 'root';
const root = users.length > 1 ? ['root'] : [];
let place = createPlace();
let clients: Client[] = [];

afterEach(async () => {
  await Promise.all(clients.map((client) => client.close()));
  clients = [];
  expect(await survivors(place.mark)).toEqual([]);
  place = createPlace();
});

/** Starts a server as that user; `write` replaces the user's `config.yaml`. */
async function open(user: User) {
  const folder = join(place.cwd, '.config', 'nacre');
  mkdirSync(folder, { recursive: true });
  const write = (text: string) => writeFileSync(join(folder, 'config.yaml'), text);
  if (!existsSync(join(folder, 'config.yaml'))) write('allowed_commands: [echo]\n');
  const { cli, identity } = cliFor(user, place.cwd);
  const { uid, gid } = identity;
  const become = uid === undefined ? [] : ['setpriv', `--reuid=${uid}`, `--regid=${gid}`, '--clear-groups'];
  const [command = '', ...args] = [...become, process.execPath, cli, 'mcp'];
  const transport = new StdioClientTransport({
    command,
    args,
    env: { ...place.env },
    cwd: place.cwd,
    stderr: 'ignore',
  });
  const client = new Client({ name: 'tester', version: '1' });
  clients.push(client);
  await client.connect(transport);
  const call = async (name: string, args: Record<string, unknown>) => {
    const result = await client.callTool({ name, arguments: args });
    return { ...dataOf(result, name), isError: result.isError === true };
  };
  const run = (command: string) => call('execute_command', { command });
  return { write, run, call };
}

describe('E8: an edit of the user’s file while a server runs', () => {
  test('applies from the next command on', async () => {
    const { write, run } = await open(ordinary);
    expect(await run('echo a')).toMatchObject({ stdout: 'a\n' });
    expect(await run('printf b')).toMatchObject({ isError: true });
    write('allowed_commands: [printf]\n');
    expect(await run('printf b')).toMatchObject({ stdout: 'b' });
    expect(await run('echo a')).toMatchObject({ isError: true, code: 'policy_denied' });
    write('allowed_commands: [printf\n');
    expect(await run('printf b')).toMatchObject({ isError: true, code: 'settings_invalid' });
    write('allowed_commands: [printf]\nsandbox: strict\n');
    expect(await run('printf b')).toMatchObject({
      code: 'settings_invalid',
      error: expect.stringMatching(/sandbox \(.*config\.yaml:2\)\. They take effect only after a restart/),
    });
    write('allowed_commands: [printf]\n');
    expect(await run('printf b')).toMatchObject({ stdout: 'b' });
  });

  test('E5: a symlinked file is hidden at its target too, and a file with two hard links is refused', async () => {
    const folder = join(place.cwd, '.config', 'nacre');
    const dotfiles = join(place.cwd, 'dotfiles');
    mkdirSync(folder, { recursive: true });
    mkdirSync(dotfiles);
    const file = join(dotfiles, 'nacre.yaml');
    writeFileSync(file, 'allowed_commands: [echo]\n');
    symlinkSync(file, join(folder, 'config.yaml'));
    const { run } = await open(ordinary);
    writeFileSync(file, 'allowed_commands: [cat, tee, echo]\n');
    expect(await run('cat dotfiles/nacre.yaml')).not.toMatchObject({
      stdout: expect.stringContaining('tee'),
    });
    await run('echo "allowed_commands: [\\"*\\"]" | tee dotfiles/nacre.yaml');
    expect(readFileSync(file, 'utf8')).toBe('allowed_commands: [cat, tee, echo]\n');
    linkSync(file, join(dotfiles, 'other.yaml'));
    writeFileSync(file, 'allowed_commands: ["*"]\n');
    expect(await run('uname')).toMatchObject({ code: 'settings_invalid' });
  });

  test.each(root)(
    'T10: as %s is refused until a restart, because a command could have made it; running commands can still be listed',
    async () => {
      const { write, run, call } = await open('root');
      write('allowed_commands: [echo, sleep]\n');
      const refused = await run('echo a');
      expect(refused).toMatchObject({
        code: 'settings_invalid',
        error: expect.stringContaining('allowed_commands'),
        hint: expect.stringMatching(/restart this server \(process \d+\) or the client/),
      });
      expect(await call('list_commands', {})).toMatchObject({ isError: false });
      write('allowed_commands: [echo]\n');
      expect(await run('echo a')).toMatchObject({ stdout: 'a\n' });
    },
  );
});
