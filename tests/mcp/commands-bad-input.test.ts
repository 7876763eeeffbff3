import { describe, expect, it } from 'vitest';
import { eras, type ServerOptions } from '../support/mcp.ts';
import { shareServers } from './shared-servers.ts';

const share = shareServers();
const serve = (options: ServerOptions = {}) => share({ ...options, env: { ALLOWED_COMMANDS: '*' } });

describe.concurrent('E6: invalid input', () => {
  it('of start_command starts nothing, and all problems are in one error', async () => {
    const server = await serve();
    const refused = await server.use('start_command', {
      command: 'sleep 60.25',
      name: 'two words',
      wait_for: '(',
      wait_ms: 60_000,
    });
    expect(refused).toMatchObject({ isError: true, structured: { code: 'invalid_request' } });
    for (const field of ['name', 'wait_for', 'wait_ms']) expect(refused.structured.error).toContain(field);
    const { commands } = (await server.use('list_commands', {})).structured;
    expect(commands).not.toContainEqual(expect.objectContaining({ command: 'sleep 60.25' }));
  });

  it('of write_input writes nothing', async () => {
    const server = await serve();
    const { structured } = await server.use('start_command', { command: 'cat', name: 'cat' });
    const command_id = structured.command_id;
    const invalid = [
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
    for (const input of invalid) {
      const reply = await server.use('write_input', { command_id, text: 'typed\n', ...input });
      expect([input, reply.isError, reply.structured.code]).toEqual([input, true, 'invalid_request']);
    }
    const read = await server.use('write_input', { command_id, text: 'once\n', wait_for: 'once' });
    expect(read.structured).toMatchObject({ stdout: 'once\n', cursor: 5 });
  });

  it('that is found after the start still returns the id and the state of the command', async () => {
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

describe.concurrent.each(eras)('T9: no output is lost over MCP %s', (era) => {
  it('if a client cancels a call that waits', async ({ expect }) => {
    const server = await serve({ era });
    await server.use('start_command', {
      command: 'read -r x; echo one; echo two; sleep 60',
      name: 'said',
      wait_ms: 10_000,
    });
    const cancelling = new AbortController();
    const waiting = server.use(
      'write_input',
      { command_id: 'said', text: 'go\n', wait_for: 'never', wait_ms: 50_000 },
      { signal: cancelling.signal },
    );
    const unreadBytes = async () => {
      const { commands } = (await server.use('list_commands', {})).structured;
      const listed = commands as { name?: string; unread_bytes?: number }[];
      return listed.find(({ name }) => name === 'said')?.unread_bytes;
    };
    await expect.poll(unreadBytes, { timeout: 10_000 }).toBe(8);
    cancelling.abort();
    await expect(waiting).rejects.toThrow();
    // The server may handle `notifications/cancelled` up to a second later.
    for (let check = 0; check < 12; check += 1) {
      await new Promise((resolve) => setTimeout(resolve, 100));
      expect(await unreadBytes()).toBe(8);
    }
    const read = await server.use('read_output', { command_id: 'said', wait_ms: 0 });
    expect(read.structured).toMatchObject({ stdout: 'one\ntwo\n' });
  });
});

it.concurrent('T9: a command that does not read its stdin does not block the call', async () => {
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
    structured: { error: expect.stringContaining(`${command_id} accepts no input: it has ended`) },
  });
});

it.concurrent('T9: a cursor inside a character returns the rest of its bytes, the same at every read', async () => {
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

it.concurrent('T9: wait_for matches across chunks, split escape sequences included', async () => {
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
