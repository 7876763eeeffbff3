// `nacre allow` and `nacre deny` while servers run over stdio and HTTP, as an ordinary user whose home has a blank in its name.
import { type ChildProcessWithoutNullStreams, execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { dataOf } from '../support/mcp.ts';
import { createPlace, survivors } from '../support/nacre.ts';
import { needLevel } from '../support/needs.ts';
import { cliFor, users } from '../support/users.ts';

let place = createPlace();
let clients: Client[] = [];
let servers: ChildProcessWithoutNullStreams[] = [];

beforeEach(async (context) => {
  await needLevel(context, 'namespace');
  place = createPlace();
});

afterEach(async () => {
  await Promise.all(clients.map((client) => client.close()));
  for (const server of servers) {
    server.kill();
    if (server.exitCode === null && server.signalCode === null) await once(server, 'exit');
  }
  clients = [];
  servers = [];
  expect(await survivors(place.mark)).toEqual([]);
});

/** A home with a settings file and a project, and ways to run nacre there. */
function createHome(settings: string) {
  const home = join(place.cwd, 'ho me');
  const app = join(home, 'my app');
  const file = join(home, '.config', 'nacre', 'config.yaml');
  mkdirSync(join(home, '.config', 'nacre'), { recursive: true });
  mkdirSync(app);
  writeFileSync(file, settings);
  const { cli, identity } = cliFor(users.at(-1) ?? 'root', place.cwd);
  const { uid, gid } = identity;
  if (uid !== undefined) execFileSync('chown', ['-R', `${uid}:${gid}`, home]);
  const become = uid === undefined ? [] : ['setpriv', `--reuid=${uid}`, `--regid=${gid}`, '--clear-groups'];
  const env = { ...place.env, HOME: home };
  const toCommand = (argv: readonly string[]) => {
    const [command = '', ...args] = [...become, process.execPath, cli, ...argv];
    return { command, args };
  };
  const nacre = async (...argv: string[]) => {
    const { command, args } = toCommand(argv);
    return promisify(execFile)(command, args, { cwd: app, env }).then(
      ({ stdout }) => stdout,
      ({ stderr }: { stderr: string }) => stderr,
    );
  };
  return { home, app, env, toCommand, nacre, read: () => readFileSync(file, 'utf8'), file };
}

type Home = ReturnType<typeof createHome>;

async function openStdio({ app, env, toCommand, nacre }: Home, more: Readonly<Record<string, string>> = {}) {
  const client = new Client({ name: 'tester', version: '1' });
  clients.push(client);
  await client.connect(
    new StdioClientTransport({ ...toCommand(['mcp']), env: { ...env, ...more }, cwd: app, stderr: 'ignore' }),
  );
  // A server answers `initialize` before it opens its control socket, through which `allow` and `deny` find it.
  await expect.poll(() => nacre('status'), { timeout: 10_000 }).toContain('tester');
  return toRun(client);
}

async function openHttp({ app, env, toCommand }: Home) {
  const { command, args } = toCommand(['serve', '--port', '0', '--json']);
  const server = spawn(command, args, { cwd: app, env });
  servers.push(server);
  const [line] = (await once(createInterface({ input: server.stdout }), 'line')) as [string];
  const { mcp, token } = JSON.parse(line) as { mcp: string; token: string };
  const client = new Client({ name: 'tester', version: '1' });
  clients.push(client);
  const requestInit = { headers: { Authorization: `Bearer ${token}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(mcp), { requestInit }));
  return toRun(client);
}

function toRun(client: Client) {
  return async (command: string, cwd?: string) => {
    const result = await client.callTool({
      name: 'execute_command',
      arguments: { command, ...(cwd !== undefined && { cwd }) },
    });
    return dataOf(result) as { stdout?: string; error?: string; code?: string };
  };
}

test('allow and deny apply at once in servers over stdio and HTTP, and show the changed lines', async () => {
  const home = createHome('# mine\nallowed_commands: [echo] # few\nsandbox: workspace\n');
  const [stdio, http] = await Promise.all([openStdio(home), openHttp(home)]);
  for (const run of [stdio, http])
    expect(await run('printf a')).toMatchObject({
      code: 'policy_denied',
      error: expect.stringContaining('printf'),
    });

  const allowed = await home.nacre('allow', 'printf', 'seq');
  expect(home.read()).toBe('# mine\nallowed_commands: [echo, printf, seq] # few\nsandbox: workspace\n');
  expect(allowed).toContain(
    '  - 2: allowed_commands: [echo] # few\n  + 2: allowed_commands: [echo, printf, seq] # few\n',
  );
  expect(allowed.match(/: printf may run from the next command on\./g)).toHaveLength(2);
  for (const run of [stdio, http]) expect(await run('printf a && seq 1')).toMatchObject({ stdout: 'a1\n' });

  const denied = await home.nacre('deny', 'printf');
  expect(denied.match(/: printf may not run from the next command on\./g)).toHaveLength(2);
  for (const run of [stdio, http]) {
    expect(await run('printf a')).toMatchObject({ code: 'policy_denied' });
    expect(await run('/usr/bin/printf a')).toMatchObject({ code: 'policy_denied' });
    expect(await run('echo a')).toMatchObject({ stdout: 'a\n' });
  }
  await home.nacre('allow', 'printf');
  expect(home.read()).toBe('# mine\nallowed_commands: [echo, seq, printf] # few\nsandbox: workspace\n');
  for (const run of [stdio, http]) expect(await run('printf a')).toMatchObject({ stdout: 'a' });
});

test('--for applies in one project and below it only', async () => {
  const home = createHome('allowed_commands: [echo]\n');
  const other = join(home.app, '..', 'other');
  for (const folder of [join(home.app, 'sub'), other]) mkdirSync(folder);
  const run = await openStdio(home);
  expect(await home.nacre('allow', 'printf', '--for', '.')).toContain(`cwd: ${home.app}`);
  expect(await run('printf a')).toMatchObject({ stdout: 'a' });
  expect(await run('cd sub && printf a')).toMatchObject({ stdout: 'a' });
  expect(await run('printf a', other)).toMatchObject({ code: 'policy_denied' });
  expect(await run('cd .. && printf a')).toMatchObject({ code: 'policy_denied' });
  await home.nacre('deny', 'echo', '--for', home.app);
  expect(await run('echo a')).toMatchObject({ code: 'policy_denied' });
  expect(await run('echo a', other)).toMatchObject({ stdout: 'a\n' });
});

test('a list in an entry overrides the file for allow, which says so, but not for deny', async () => {
  const home = createHome('preset: git\n');
  const entry = { command: 'node', args: ['cli.js', 'mcp'], env: { NACRE_PRESET: 'read-only' } };
  writeFileSync(join(home.home, '.claude.json'), JSON.stringify({ mcpServers: { nacre: entry } }));
  const run = await openStdio(home, { NACRE_PRESET: 'read-only' });
  const shown = await home.nacre('allow', 'make');
  expect(shown).toMatch(
    /Server \d+ \(.*my app\): make is not allowed, .* Its list comes from NACRE_PRESET, which overrides/,
  );
  expect(shown).toContain(
    '.claude.json) sets NACRE_PRESET in its entry, which overrides your settings file there.',
  );
  expect(shown).toContain('run nacre init claude-code --scope user');
  expect(await run('make --version')).toMatchObject({ code: 'policy_denied' });
  await home.nacre('deny', 'ls');
  expect(await run('ls')).toMatchObject({ code: 'policy_denied' });
});

test('wrong input and files that cannot be edited change nothing', async () => {
  const home = createHome('allowed_commands: [echo]\n');
  expect(await home.nacre('allow')).toContain('nacre allow needs the name of a program');
  expect(await home.nacre('allow', '*')).toContain('set preset: full');
  expect(await home.nacre('deny', '*')).toContain('To deny every program, set preset: none and');
  for (const verdict of ['allow', 'deny'])
    expect(await home.nacre(verdict, '')).toContain('"" is not the name of a program');
  expect(await home.nacre('allow', 'rm -rf')).toContain('is not the name of a program');
  expect(await home.nacre('deny', 'if')).toContain('does not match its example');
  expect(await home.nacre('deny', 'ls', '--for', 'nowhere')).toContain('does not exist');
  expect(home.read()).toBe('allowed_commands: [echo]\n');
  writeFileSync(home.file, '{ allowed_commands: [echo] }\n');
  expect(await home.nacre('deny', 'ls')).toContain('The settings file cannot be edited');
  expect(home.read()).toBe('{ allowed_commands: [echo] }\n');
});

test('changes that run at once are all written', async () => {
  const home = createHome('allowed_commands: [echo]\n');
  const names = ['ls', 'cat', 'git', 'jq'];
  await Promise.all(names.map((name) => home.nacre('allow', name)));
  for (const name of ['echo', ...names]) expect(home.read()).toMatch(new RegExp(`\\b${name}\\b`));
});

test('a missing settings file is created, with a note that the list has only these programs', async () => {
  const home = createHome('');
  execFileSync('rm', [home.file]);
  const shown = await home.nacre('allow', 'git', 'ls');
  expect(home.read()).toBe('allowed_commands: [git, ls]\n');
  expect(shown).toContain('this is now the whole list');
  expect(shown).toContain('No server is running');
  expect(existsSync(join(home.home, '.local/state/nacre/backups'))).toBe(false);
  expect(JSON.parse(await home.nacre('deny', 'git', '--json'))).toMatchObject({
    file: home.file,
    servers: [],
  });
});
