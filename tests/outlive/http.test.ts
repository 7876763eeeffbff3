// Commands of HTTP clients outlive `nacre serve`; each token finds its own and no others.
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { expect, test } from 'vitest';
import { dataOf } from '../support/mcp.ts';
import { createOutliveHome, type OutliveHome } from '../support/outlive.ts';

const slow = { timeout: 180_000 };
const patient = { timeout: 60_000, interval: 100 };
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const tokens = { ann: 'the-token-of-ann', bob: 'the-token-of-bob' } as const;
const userFile = `tokens:\n${Object.entries(tokens)
  .map(([name, token]) => `  - { name: ${name}, sha256: ${sha256(token)}, allow: ["*"] }\n`)
  .join('')}`;

async function serve(home: OutliveHome) {
  const child = home.start(['serve', '--port', '0', '--json']);
  const [line] = await once(child.stdout, 'data');
  const { mcp, token } = JSON.parse(String(line)) as { readonly mcp: string; readonly token: string };
  return {
    token,
    async kill() {
      child.kill('SIGKILL');
      await once(child, 'exit');
    },
    async connect(bearer: string, name = 'tester') {
      const client = new Client({ name, version: '1.0.0' }, { supportedProtocolVersions: ['2025-06-18'] });
      const requestInit = { headers: { Authorization: `Bearer ${bearer}` } };
      await client.connect(new StreamableHTTPClientTransport(new URL(mcp), { requestInit }));
      return {
        instructions: client.getInstructions() ?? '',
        close: () => client.close(),
        async use(tool: string, input: Record<string, unknown> = {}) {
          const result = await client.callTool({ name: tool, arguments: input });
          const [first] = result.content as readonly { readonly text: string }[];
          const isError = result.isError === true;
          return { text: first?.text ?? '', isError, data: isError ? {} : dataOf(result, tool) };
        },
      };
    },
  };
}

/** Connects a client with each token, and one with the server's own. */
async function connectAll(server: Awaited<ReturnType<typeof serve>>) {
  return {
    ann: await server.connect(tokens.ann),
    bob: await server.connect(tokens.bob),
    own: await server.connect(server.token),
  };
}

test('each token finds its own commands and shells after a killed server, and no others', slow, async () => {
  const home = createOutliveHome({ userFile });
  const first = await serve(home);
  const before = await connectAll(first);
  for (const [name, client] of Object.entries(before)) {
    const command = `echo secret of ${name}; read x; echo "got $x"; exit 5`;
    const started = await client.use('start_command', { command, name: `of-${name}`, wait_for: 'secret' });
    expect(started.text).toContain(`of-${name}`);
    expect((await client.use('Bash', { command: `mine=${name}` })).isError).toBe(false);
  }
  const ids = new Map<string, unknown>();
  for (const [name, client] of Object.entries(before)) {
    const { commands } = (await client.use('list_commands')).data as {
      readonly commands: readonly { readonly command_id: string; readonly name: string }[];
    };
    expect(commands.map((one) => one.name)).toEqual([`of-${name}`]);
    ids.set(name, commands[0]?.command_id);
  }
  await first.kill();
  const next = await serve(home);
  const after = await connectAll(next);
  for (const [name, client] of Object.entries(after)) {
    const { text } = await client.use('list_commands');
    expect(text).toContain(`of-${name}`);
    for (const other of Object.keys(after).filter((one) => one !== name)) {
      expect(text).not.toContain(`of-${other}`);
      for (const command_id of [ids.get(other), `of-${other}`])
        for (const [tool, more] of [
          ['read_output', {}],
          ['write_input', { text: 'stolen' }],
          ['stop_command', {}],
        ] as const)
          expect(await client.use(tool, { command_id, ...more })).toMatchObject({ isError: true });
    }
    expect((await client.use('Bash', { command: 'echo "[$mine]"' })).text).toContain(`[${name}]`);
    await client.use('write_input', { command_id: ids.get(name), text: 'mine', keys: ['Enter'] });
    const read = async () => (await client.use('read_output', { command_id: ids.get(name), cursor: 0 })).data;
    await expect.poll(read, patient).toMatchObject({ stdout: `secret of ${name}\ngot mine\n`, exit_code: 5 });
  }
  await next.kill();
});

test('another client with the same token does not find them', slow, async () => {
  const home = createOutliveHome({ userFile });
  const first = await serve(home);
  const mine = await first.connect(tokens.ann);
  await mine.use('start_command', { command: 'sleep 7401', name: 'kept' });
  await first.kill();
  const next = await serve(home);
  const other = await next.connect(tokens.ann, 'another-client');
  expect((await other.use('list_commands')).data).toMatchObject({ commands: [] });
  expect((await other.use('read_output', { command_id: 'kept' })).isError).toBe(true);
  const same = await next.connect(tokens.ann);
  expect((await same.use('stop_command', { command_id: 'kept' })).text).toContain('killed');
  await next.kill();
});

test('the instructions for a token name its own commands only', slow, async () => {
  const home = createOutliveHome({ userFile });
  const first = await serve(home);
  for (const name of ['ann', 'bob'] as const)
    await (await first.connect(tokens[name])).use('start_command', { command: 'cat', name: `of-${name}` });
  await first.kill();
  // On a busy machine the instructions may have to be sent before the worker has answered.
  const instructions = async () => {
    const next = await serve(home);
    const client = await next.connect(tokens.ann);
    await next.kill();
    return client.instructions;
  };
  await expect
    .poll(instructions, patient)
    .toMatch(/1 command of an earlier connection still runs: of-ann\.\s*$|still runs: of-ann\.\n/);
});
