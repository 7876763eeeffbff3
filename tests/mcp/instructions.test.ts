import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client, type ClientOptions } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterEach, describe, expect, test } from 'vitest';
import { eras } from '../support/mcp.ts';
import { createPlace, survivors } from '../support/nacre.ts';
import { needLevel } from '../support/needs.ts';
import { cliFor, users } from '../support/users.ts';
import { shareServers } from './shared-servers.ts';

const serve = shareServers();

describe.concurrent.each(eras)('instructions over MCP %s', (era) => {
  test('describe the programs, the directory, the sandbox and the time limits of the connection', async ({
    expect,
  }) => {
    const { client, cwd } = await serve({ era, env: { ALLOWED_COMMANDS: 'git,ls' } });
    const text = client.getInstructions() ?? '';
    expect(text).toContain('Only these programs may run: git, ls.');
    expect(text).toContain(`Working directory (or first root): ${cwd}.`);
    expect(text).toContain('No sandbox');
    expect(text).toMatch(/execute_command: each call runs in a new shell .* killed after 55 s/);
  });

  test('T1: have 120 s for a client that is known to wait, as do the schema and the call', async ({
    expect,
  }) => {
    const { client } = await serve({ era, name: 'claude-code', env: { ALLOWED_COMMANDS: '*' } });
    expect(client.getInstructions()).toContain('killed after 120 s');
    const { tools } = await client.listTools();
    expect(defaultTimeout(tools)).toBe(120_000);
    expect(JSON.stringify(tools).length).toBeLessThan(10_000);
  });
});

type Tools = Awaited<ReturnType<Client['listTools']>>['tools'];

function defaultTimeout(tools: Tools): unknown {
  const { timeout_ms } = (tools.find(({ name }) => name === 'execute_command')?.inputSchema.properties ??
    {}) as Record<string, { default?: unknown }>;
  return timeout_ms?.default;
}

test('in a sandbox they say what is writable and that there is no network', async (context) => {
  await needLevel(context, 'namespace');
  const env = { NACRE_PRESET: 'dev-node', NACRE_SANDBOX: 'workspace', NACRE_TOOLS: 'bash' };
  const { client } = await serve({ env });
  const text = client.getInstructions() ?? '';
  expect(text).toMatch(/\(preset dev-node\): the usual ones .*npm/);
  expect(text).toMatch(/Sandbox workspace: only the command's working directory and \/tmp .* No network:/);
  expect(text).toMatch(/Bash: one shell keeps its directory and variables between calls/);
  expect(text.length).toBeLessThan(1_500);
});

test('the time limits of the settings are those of schema, description, call and error', async () => {
  const env = {
    ...{ ALLOWED_COMMANDS: '*', NACRE_TOOLS: 'all', NACRE_TERMINAL_TIMEOUT_MS: '1000' },
    ...{ NACRE_TERMINAL_TIMEOUT_MAX_MS: '5000', NACRE_BASH_TIMEOUT_MS: '60000' },
    ...{ NACRE_SHELL_EXECUTE_TIMEOUT_MS: '90500', NACRE_SHELL_EXECUTE_TIMEOUT_MAX_MS: '7200000' },
  };
  const { client, use } = await serve({ env });
  const { tools } = await client.listTools();
  const field = (tool: string, name: string) =>
    tools.find((one) => one.name === tool)?.inputSchema.properties?.[name];
  expect(field('execute_command', 'timeout_ms')).toMatchObject({ default: 1_000, maximum: 5_000 });
  expect(field('shell_execute', 'timeout')).toMatchObject({ default: 90, maximum: 7_200 });
  expect(tools.find(({ name }) => name === 'Bash')?.description).toContain(
    'Timeout defaults to 60000ms (1 minute), max 600000ms (10 minutes)',
  );
  expect(await use('execute_command', { command: 'sleep 7.25' })).toMatchObject({
    isError: true,
    structured: { error: expect.stringContaining('1000 ms'), hint: expect.stringContaining('up to 5000') },
  });
  expect((await use('execute_command', { command: 'true', timeout_ms: 5_001 })).text).toContain(
    'timeout_ms must be at most 5000',
  );
});

// Root could change its own settings from a command, so a server of root does not apply changes.
const ordinary = users.at(-1) ?? 'root';
let open: Client[] = [];
let place = createPlace();
afterEach(async () => {
  await Promise.all(open.map((client) => client.close()));
  open = [];
  expect(await survivors(place.mark)).toEqual([]);
  place = createPlace();
});

/** Connects a client to a server of the ordinary user in `place`, with a `config.yaml`. */
async function connectTo(options: ClientOptions) {
  const { cli, identity } = cliFor(ordinary, place.cwd);
  const { uid, gid } = identity;
  const become = uid === undefined ? [] : ['setpriv', `--reuid=${uid}`, `--regid=${gid}`, '--clear-groups'];
  const [command = '', ...args] = [...become, process.execPath, cli, 'mcp'];
  const env = { ...place.env };
  const transport = new StdioClientTransport({ command, args, env, cwd: place.cwd, stderr: 'ignore' });
  const client = new Client({ name: 'tester', version: '1' }, options);
  open.push(client);
  await client.connect(transport);
  return client;
}

function write(text: string) {
  mkdirSync(join(place.cwd, '.config', 'nacre'), { recursive: true });
  writeFileSync(join(place.cwd, '.config', 'nacre', 'config.yaml'), text);
}

describe('a change of the settings while a connection is open', () => {
  test.each(eras)(
    'over MCP %s is in the next reply, in the instructions of new connections, and in tools/list',
    async (era) => {
      write('allowed_commands: [echo]\n');
      let changes = 0;
      const onChanged = () => {
        changes += 1;
      };
      const versions: ClientOptions =
        era === '2026-07-28'
          ? { versionNegotiation: { mode: { pin: era } } }
          : { supportedProtocolVersions: [era] };
      const client = await connectTo({
        ...versions,
        listChanged: { tools: { onChanged, autoRefresh: false } },
      });
      const run = (command: string) => client.callTool({ name: 'execute_command', arguments: { command } });
      const textsOf = async (command: string) =>
        ((await run(command)).content as { text: string }[]).map(({ text }) => text);
      expect(client.getInstructions()).toContain('programs may run: echo.');
      expect(await textsOf('echo a')).toEqual([expect.stringContaining('exit_code: 0')]);

      write('allowed_commands: [echo, printf]\nterminal_timeout_ms: 40000\n');
      expect(await textsOf('printf b')).toEqual([
        expect.stringContaining('exit_code: 0'),
        expect.stringMatching(/^The rules of this connection have changed\..*run: echo, printf\..* 40 s/s),
      ]);
      expect(await textsOf('printf b')).toHaveLength(1);
      await expect.poll(() => changes).toBe(1);
      expect(defaultTimeout((await client.listTools()).tools)).toBe(40_000);

      write('allowed_commands: [printf]\nterminal_timeout_ms: 40000\n');
      expect((await connectTo(versions)).getInstructions()).toContain('programs may run: printf.');
      expect(await textsOf('echo a')).toEqual([
        expect.stringContaining('not allowed'),
        expect.stringContaining('programs may run: printf.'),
      ]);
      expect(changes).toBe(1);
    },
  );
});

test('a refusal names the nearest allowed way', async () => {
  const { call } = await serve({ env: { ALLOWED_COMMANDS: 'grep,npm,git' } });
  const hintFor = async (command: string) => (await call({ command })).structured.hint;
  expect(await hintFor('rg TODO src')).toMatch(/^Use grep -rn instead\. Listed programs: grep, npm, git\.$/);
  expect(await hintFor('cd web && yarn test')).toMatch(/^Use npm instead\./);
  expect(await hintFor('gti status')).toMatch(/^Did you mean git\?/);
  expect(await hintFor('terraform plan')).toMatch(/^Use one of the listed programs: grep, npm, git\.$/);
});
