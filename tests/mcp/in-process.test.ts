import { afterAll, describe, expect, it } from 'vitest';
import { dataOf } from '../support/mcp.ts';
import { createPlace, endKept, sleep, startInProcess, survivors } from '../support/nacre.ts';

const places: ReturnType<typeof createPlace>[] = [];
afterAll(async () => {
  for (const place of places) {
    await endKept(place);
    expect(await survivors(place.mark)).toEqual([]);
  }
});

function serve(cwd?: string) {
  const place = createPlace();
  places.push(place);
  const server = startInProcess(['mcp', '--allow', '*'], { ...place, ...(cwd !== undefined && { cwd }) });
  const send = (message: object) => server.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const messages = () =>
    server.out
      .text()
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line));
  const answer = async (id: number) => {
    for (;;) {
      const found = messages().find((message) => message.id === id);
      if (found) return found;
      await sleep(10);
    }
  };
  const call = (id: number, args: object, more: object = {}) => {
    send({ id, method: 'tools/call', params: { name: 'execute_command', arguments: args, ...more } });
    return answer(id);
  };
  return { ...server, send, messages, answer, call };
}

describe('nacre mcp inside another process', () => {
  it('serves a client of an older protocol version until stdin ends', async () => {
    const server = serve();
    const clientInfo = { name: 'old', version: '1' };
    const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo };
    server.send({ id: 1, method: 'initialize', params });
    expect((await server.answer(1)).result.serverInfo.name).toBe('nacre');
    server.send({ id: 2, method: 'tools/list' });
    expect((await server.answer(2)).result.tools[0].name).toBe('execute_command');
    expect((await server.call(3, { command: 'echo hi' })).result.structuredContent.stdout).toBe('hi\n');
    expect((await server.call(4, { command: 'exit 2', cwd: '/nope' })).result.isError).toBe(true);
    server.send({ id: 5, method: 'tools/call', params: { name: 'nope', arguments: {} } });
    expect((await server.answer(5)).error.message).toMatch(/no tool "nope"/);
    server.stdin.write('garbage\n');
    server.stdin.end();
    const stderr = expect.stringContaining('nacre: protocol error: A line is not valid JSON.\n');
    expect(await server.ended).toMatchObject({ code: 0, stderr });
  });

  it('T9: offers the output of commands as resources', async ({ expect }) => {
    const server = serve();
    const clientInfo = { name: 'old', version: '1' };
    const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo };
    const ask = (id: number, method: string, asked: object = {}) => {
      server.send({ id, method, params: asked });
      return server.answer(id);
    };
    await ask(1, 'initialize', params);
    const started = {
      name: 'start_command',
      arguments: { command: 'echo one; cat', pty: true, wait_for: 'one' },
    };
    const { command_id } = (await ask(2, 'tools/call', started)).result.structuredContent;
    const { resources } = (await ask(3, 'resources/list')).result;
    const [log, screen] = resources.map(({ uri }: { uri: string }) => uri);
    expect((await ask(4, 'resources/read', { uri: log })).result.contents[0].text).toBe('one\n');
    expect((await ask(5, 'resources/read', { uri: screen })).result.contents[0].text).toBe('one\n');
    expect((await ask(6, 'resources/read', { uri: 'nacre://nothing' })).error.code).toBe(-32602);
    expect((await ask(7, 'resources/templates/list')).result.resourceTemplates).toHaveLength(2);
    await ask(8, 'resources/subscribe', { uri: log });
    await ask(9, 'tools/call', {
      name: 'write_input',
      arguments: { command_id, text: 'two\n', wait_for: 'two' },
    });
    const updates = () =>
      server.messages().filter(({ method }) => method === 'notifications/resources/updated');
    await expect.poll(updates, { timeout: 10_000 }).toMatchObject([{ params: { uri: log } }]);
    await ask(10, 'resources/unsubscribe', { uri: log });
    const much = {
      name: 'execute_command',
      arguments: { command: 'seq 1 20000' },
      _meta: { 'nacre/details': true },
    };
    const { content } = (await ask(11, 'tools/call', much)).result;
    expect((await ask(12, 'resources/read', { uri: content[1].uri })).result.contents[0]._meta).toMatchObject(
      {
        'nacre/next': expect.stringContaining('?from='),
      },
    );
    server.stdin.end();
    expect(await server.ended).toMatchObject({ code: 0 });
  });

  it('serves a client of 2026-07-28, and sends progress notifications', async () => {
    const server = serve();
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'new', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {},
      progressToken: 'me',
    };
    const lines = server.call(1, { command: 'echo one; echo two; sleep 1.3' }, { _meta });
    const none = server.call(
      2,
      { command: 'echo three >&2; sleep 1.3' },
      { _meta: { ..._meta, progressToken: 5 } },
    );
    const many = server.call(
      3,
      { command: 'yes | head -c 50000000; sleep 1.3' },
      { _meta: { ..._meta, progressToken: 6 } },
    );
    expect((await many).result.structuredContent.truncated).toBe(true);
    expect((await lines).result.structuredContent.stdout).toBe('one\ntwo\n');
    expect((await none).result.structuredContent.stderr).toBe('three\n');
    const progress = server.messages().filter(({ method }) => method === 'notifications/progress');
    expect(progress.map(({ params }) => params)).toEqual(
      expect.arrayContaining([
        {
          progressToken: 'me',
          progress: expect.any(Number),
          message: expect.stringMatching(/^2 lines after \d s: two$/),
        },
        {
          progressToken: 5,
          progress: expect.any(Number),
          message: expect.stringMatching(/^1 line after \d s: three$/),
        },
        {
          progressToken: 6,
          progress: expect.any(Number),
          message: expect.stringMatching(/^\d+ bytes after \d s: y$/),
        },
      ]),
    );
    server.stdin.end();
    expect((await server.ended).code).toBe(0);
  });

  it('keeps running if no command can run, and reports why at every call', async () => {
    const server = serve('/does/not/exist');
    await sleep(400);
    for (const id of [1, 2]) {
      const { result } = await server.call(id, { command: 'echo hi' });
      expect(result).toMatchObject({ isError: true });
      expect(dataOf(result)).toMatchObject({ code: 'cwd_invalid' });
    }
    server.interrupt('SIGTERM');
    expect((await server.ended).code).toBe(0);
  });

  it('replies to a call that arrives during shutdown', async () => {
    const server = serve();
    await server.call(1, { command: 'true' });
    const running = server.call(2, { command: "trap '' TERM; echo begun; sleep 70.5; sleep 70.5" });
    await sleep(200);
    server.interrupt('SIGTERM');
    await sleep(50);
    const late = await server.call(3, { command: 'echo hi' });
    expect(dataOf(late.result)).toMatchObject({ exit_code: null, code: 'shutting_down' });
    expect((await running).result.isError).toBe(true);
    expect((await server.ended).code).toBe(0);
  });

  it('exits immediately if it is interrupted before it starts', async () => {
    const server = serve();
    server.interrupt('SIGTERM');
    expect(await server.ended).toEqual({ code: 0, stdout: '', stderr: '' });
  });

  it('exits when stdout fails', async () => {
    const server = serve();
    server.stdout.destroy(new Error('gone'));
    expect((await server.ended).code).toBe(0);
  });
});
