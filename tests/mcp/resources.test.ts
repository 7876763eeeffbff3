import { describe, expect, it } from 'vitest';
import { eras, protocolError, type ServerOptions } from '../support/mcp.ts';
import { type McpServer, shareServers } from './shared-servers.ts';

const share = shareServers();
const allTools: ServerOptions = { args: ['--tools', 'all'], env: { NACRE_ON_TIMEOUT: 'background' } };
const _meta = { 'nacre/details': true };
const serve = (options: ServerOptions) =>
  share({ ...options, env: { ALLOWED_COMMANDS: '*', ...options.env } });

interface Piece {
  readonly text: string;
  readonly _meta?: { readonly 'nacre/next'?: string };
}

async function read(server: McpServer, uri: string): Promise<Piece> {
  const { contents } = await server.client.readResource({ uri });
  return contents[0] as Piece;
}

describe.each(eras)('T9, S6: the audit records over MCP %s', (era) => {
  it('are the newest of this client alone that fit into a reply', async () => {
    const [mine, other] = [await serve({ era }), await serve(allTools)];
    const records = async (server: McpServer) =>
      (await read(server, 'nacre://audit')).text
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(await records(mine)).toEqual([]);
    await mine.call({ command: 'echo mine' });
    await other.call({ command: 'echo other' });
    expect(await records(mine)).toMatchObject([
      { kind: 'asked', client: 'tester', command: 'echo mine' },
      { kind: 'decided', verdict: 'allow' },
      { kind: 'started' },
      { kind: 'finished', exit_code: 0 },
    ]);
    for (let count = 0; count < 4; count += 1) await mine.call({ command: `: ${'x'.repeat(10_000)}; :` });
    const kept = await records(mine);
    expect(kept.at(-1)).toMatchObject({ kind: 'finished' });
    expect(JSON.stringify(kept)).not.toContain('echo mine');
  });
});

it('T9: every truncated reply links to the log if the call asks for details, for every tool', async ({
  expect,
}) => {
  const server = await serve(allTools);
  const linked = async (name: string, args: Record<string, unknown>) => {
    const { content } = await server.client.callTool({ name, arguments: args, _meta });
    const link = (content as { type: string; uri: string }[]).find(({ type }) => type === 'resource_link');
    return link === undefined ? null : (await read(server, link.uri)).text.slice(0, 6);
  };
  const much = 'seq 1 20000';
  for (const name of ['execute_command', 'shell_execute', 'Bash']) {
    expect([name, await linked(name, { command: much })]).toEqual([name, '1\n2\n3\n']);
    expect([name, await linked(name, { command: 'seq 1 10' })]).toEqual([name, null]);
  }
  const detached = { command: `${much}; sleep 60`, timeout_ms: 1_000, on_timeout: 'background' };
  expect(await linked('execute_command', detached)).toBe('1\n2\n3\n');
  expect(await linked('Bash', { command: `${much}; sleep 60`, timeout: 1_000 })).toBe('1\n2\n3\n');
  const shell = await server.use('Bash', { command: much, run_in_background: true });
  const { bash_id } = shell.structured;
  await expect.poll(() => linked('BashOutput', { bash_id }), { timeout: 10_000 }).toBe('1\n2\n3\n');
  const command_id = 'numbers';
  expect(await linked('start_command', { command: much, name: command_id, wait_ms: 20_000 })).toBe(
    '1\n2\n3\n',
  );
  const again = { command_id, cursor: 0, wait_ms: 0, max_output_chars: 100 };
  expect(await linked('read_output', again)).toBe('1\n2\n3\n');
  expect(await linked('read_output', { ...again, view: 'tail' })).toBe('1\n2\n3\n');
  expect(await linked('read_output', { ...again, filter: '9' })).toBe('1\n2\n3\n');
  expect(await linked('read_output', { ...again, filter: '^19999$' })).toBeNull();
  expect(await linked('stop_command', { command_id })).toBeNull();
});

describe.concurrent.each(eras)('T9: the output of commands as resources over MCP %s', (era) => {
  it('is listed and read in pieces, and truncated replies link to it', async () => {
    const server = await serve({ era });
    const { structured } = await server.use('start_command', {
      command: 'seq 1 20000',
      name: 'numbers',
      wait_ms: 20_000,
    });
    const uri = `nacre://commands/${structured.command_id}/log`;
    const { resources } = await server.client.listResources();
    const log = { uri, name: 'numbers log', title: 'seq 1 20000', mimeType: 'text/plain', size: 108_894 };
    expect(resources.filter((one) => one.uri.startsWith(uri))).toMatchObject([log]);
    expect(resources.at(-1)).toMatchObject({ uri: 'nacre://audit', name: 'audit' });
    const { resourceTemplates } = await server.client.listResourceTemplates();
    expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual([
      'nacre://commands/{id}/log{?from}',
      'nacre://commands/{id}/screen',
    ]);
    let text = '';
    for (let next: string | undefined = uri; next !== undefined; ) {
      const piece: Piece = await read(server, next);
      expect(piece.text.length).toBeLessThanOrEqual(30_000);
      text += piece.text;
      next = piece._meta?.['nacre/next'];
    }
    expect(text).toBe(Array.from({ length: 20_000 }, (_, i) => `${i + 1}\n`).join(''));
    const long = await server.client.callTool({
      name: 'execute_command',
      arguments: { command: 'seq 1 20000' },
      _meta,
    });
    const link = (long.content as { type: string; uri: string }[])[1];
    expect(link).toMatchObject({
      type: 'resource_link',
      uri: expect.stringMatching(/^nacre:\/\/commands\/cmd_/),
    });
    expect((await read(server, link?.uri ?? '')).text).toMatch(/^1\n2\n/);
  });

  it('causes a notification while it grows, and includes the screen of a terminal', async ({ expect }) => {
    const server = await serve({ era });
    const updated: string[] = [];
    server.client.setNotificationHandler('notifications/resources/updated', ({ params }) => {
      updated.push(params.uri);
    });
    const { structured } = await server.use('start_command', {
      command: 'read -r x; echo "got $x"; sleep 60',
      pty: true,
      wait_ms: 20_000,
    });
    const id = String(structured.command_id);
    const [log, screen] = [`nacre://commands/${id}/log`, `nacre://commands/${id}/screen`];
    const { resources } = await server.client.listResources();
    expect(resources.map(({ uri }) => uri).filter((uri) => uri.includes(id))).toEqual([log, screen]);
    if (era === '2026-07-28') await server.client.listen({ resourceSubscriptions: [log, screen] });
    else {
      await server.client.subscribeResource({ uri: log });
      await server.client.subscribeResource({ uri: screen });
    }
    await server.use('write_input', { command_id: id, text: 'it\n', wait_for: 'got' });
    await expect.poll(() => new Set(updated), { timeout: 10_000 }).toEqual(new Set([log, screen]));
    expect((await read(server, log)).text).toContain('got it\n');
    expect((await read(server, screen)).text).toBe('it\ngot it\n');
    if (era === '2026-07-28') return;
    await server.client.unsubscribeResource({ uri: log });
    await server.client.unsubscribeResource({ uri: screen });
    const before = updated.length;
    await server.use('stop_command', { command_id: id });
    expect(updated.length).toBe(before);
  });

  it('is not found if it does not exist', async () => {
    const server = await serve({ era });
    const { structured } = await server.use('start_command', { command: 'true', wait_ms: 10_000 });
    for (const uri of [
      'nacre://commands/cmd_000000000000/log',
      'nacre://commands/x/y/log',
      'file:///etc/passwd',
      `nacre://commands/${structured.command_id}/screen`,
      `nacre://commands/${structured.command_id}/log?from=99999`,
    ]) {
      expect((await protocolError(server.client.readResource({ uri }))).code).toBe(-32602);
    }
  });
});
