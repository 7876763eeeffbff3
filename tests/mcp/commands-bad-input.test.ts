import { afterEach, describe, expect, it } from 'vitest';
import { connect, eras, type ServerOptions } from '../support/mcp.ts';

type Server = Awaited<ReturnType<typeof connect>>;
let open: Server[] = [];

async function serve(options: ServerOptions = {}): Promise<Server> {
  const server = await connect({ ...options, env: { ALLOWED_COMMANDS: '*', ...options.env } });
  open.push(server);
  return server;
}

afterEach(async () => {
  const left = await Promise.all(open.map((server) => server.close()));
  open = [];
  expect(left.flat()).toEqual([]);
});

describe('E6: what cannot be answered', () => {
  it('starts nothing, and says all that is wrong at once', async () => {
    const server = await serve();
    const refused = await server.use('start_command', {
      command: 'sleep 60',
      name: 'two words',
      wait_for: '(',
      wait_ms: 60_000,
    });
    expect(refused).toMatchObject({ isError: true, structured: { code: 'invalid_request' } });
    for (const field of ['name', 'wait_for', 'wait_ms']) expect(refused.structured.error).toContain(field);
    expect((await server.use('list_commands', {})).structured).toEqual({ commands: [] });
  });

  it('types nothing', async () => {
    const server = await serve();
    const { structured } = await server.use('start_command', { command: 'cat', name: 'cat' });
    const command_id = structured.command_id;
    const wrong = [
      { filter: '(' },
      { wait_for: '[' },
      { view: 'screen' },
      { cursor: 999 },
      { cursor: -1 },
      { cursor: 0.5 },
      { cursor: '0' },
      { keys: ['constructor'] },
      { keys: ['__proto__'] },
      { keys: 'enter' },
      { keys: Array.from({ length: 101 }, () => 'enter') },
      { resize: { cols: 0, rows: 0 } },
      { resize: { cols: 100_000, rows: 100_000 } },
      { resize: { cols: 80, rows: 24 } },
      { max_output_chars: 0 },
      { text: 7 },
      { text: '\ud800' },
      { nonsense: true },
      { command_id: 'x'.repeat(101) },
      { command_id: '' },
    ];
    for (const input of wrong) {
      const answer = await server.use('write_input', { command_id, text: 'typed\n', ...input });
      expect([input, answer.isError, answer.structured.code]).toEqual([input, true, 'invalid_request']);
    }
    const seen = await server.use('write_input', { command_id, text: 'once\n', wait_for: 'once' });
    expect(seen.structured).toMatchObject({ stdout: 'once\n', cursor: 5 });
  });

  it('still tells the id of what runs by then, and how it is', async () => {
    const server = await serve();
    const slow = { wait_for: '(a+)+$', wait_ms: 20_000 };
    const started = await server.use('start_command', {
      command: `printf ${'a'.repeat(40)}!; cat`,
      name: 'slow',
      ...slow,
    });
    expect(started).toMatchObject({
      isError: true,
      structured: {
        command_id: expect.stringMatching(/^cmd_/),
        status: 'running',
        stdout: `${'a'.repeat(40)}!`,
        cursor: 41,
        error: expect.stringContaining('longer than a second'),
      },
    });
    const typed = await server.use('write_input', {
      command_id: 'slow',
      text: `${'a'.repeat(40)}!`,
      ...slow,
    });
    expect(typed.structured).toMatchObject({ stdout: `${'a'.repeat(40)}!`, cursor: 82 });
  });
});

describe.each(eras)('T9: nothing is lost over MCP %s', (era) => {
  it('when a client gives up waiting', async () => {
    const server = await serve({ era });
    await server.use('start_command', {
      command: 'read -r x; echo one; echo two; sleep 60',
      name: 'said',
      wait_ms: 10_000,
    });
    const giveUp = new AbortController();
    const waiting = server.use(
      'write_input',
      { command_id: 'said', text: 'go\n', wait_for: 'never', wait_ms: 50_000 },
      { signal: giveUp.signal },
    );
    const listed = async () =>
      (await server.use('list_commands', {})).structured.commands as { unread_bytes?: number }[];
    await expect.poll(async () => (await listed())[0]?.unread_bytes, { timeout: 10_000 }).toBe(8);
    giveUp.abort();
    await expect(waiting).rejects.toThrow();
    // The server notices it within a second or so.
    for (let look = 0; look < 20; look += 1) {
      await new Promise((resolve) => setTimeout(resolve, 100));
      expect((await listed())[0]?.unread_bytes).toBe(8);
    }
    const read = await server.use('read_output', { command_id: 'said', wait_ms: 0 });
    expect(read.structured).toMatchObject({ stdout: 'one\ntwo\n' });
  });
});

it('T9: a command that does not read holds up nobody', async () => {
  const server = await serve();
  const { structured } = await server.use('start_command', { command: 'sleep 60', wait_ms: 100 });
  const { command_id } = structured;
  const text = 'x'.repeat(1_000_000);
  const typed = await server.use('write_input', { command_id, text, wait_ms: 100 });
  expect(typed).toMatchObject({ isError: false, structured: { status: 'running', input_taken: false } });
  const ended = await server.use('write_input', { command_id, keys: ['Ctrl-C'], wait_ms: 20_000 });
  expect(ended.structured).toMatchObject({ reason: 'ended', signal: 'SIGINT' });
  const late = await server.use('write_input', { command_id, text: 'x' });
  expect(late).toMatchObject({
    isError: true,
    structured: { error: expect.stringContaining(`${command_id} takes no input: it has ended`) },
  });
});

it('T9: a cursor in the middle of a character gives the rest of its bytes, every time the same', async () => {
  const server = await serve();
  const { structured } = await server.use('start_command', { command: "printf 'a€b\\n'", wait_ms: 20_000 });
  const { command_id } = structured;
  const from = async (cursor: number) =>
    (await server.use('read_output', { command_id, cursor, wait_ms: 0 })).structured.stdout;
  expect(await from(1)).toBe('€b\n');
  expect(await from(2)).toBe(await from(2));
  expect(await from(2)).toMatch(/^\ufffd+b\n$/);
  expect(await from(4)).toBe('b\n');
  expect(await from(6)).toBe('');
});

it('T9: a pattern is found across the borders of what comes in pieces, sequences included', async () => {
  const server = await serve();
  const pieces =
    'printf "re\\e[3"; sleep 0.3; printf "1mad"; sleep 0.3; printf "y \\342\\202"; sleep 0.3; printf "\\254\\n"';
  const { structured } = await server.use('start_command', {
    command: `${pieces}; sleep 60`,
    wait_for: '^ready €$',
    wait_ms: 20_000,
  });
  expect(structured).toMatchObject({ reason: 'matched', stdout: 'ready €\n' });
});
