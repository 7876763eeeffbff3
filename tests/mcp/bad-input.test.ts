import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connect, dataOf, openRaw, protocolError } from '../support/mcp.ts';
import { sleep, survivors } from '../support/nacre.ts';
import { processesWith } from '../support/processes.ts';

const mebibyte = 1_048_576;

describe('E6: invalid arguments', () => {
  let server: Awaited<ReturnType<typeof connect>>;
  beforeAll(async () => {
    server = await connect({ env: { ALLOWED_COMMANDS: '*' } });
  });
  afterAll(async () => {
    expect(await server.close()).toEqual([]);
  });

  const touch = 'touch ran;';
  it.each<[string, Record<string, unknown>, RegExp]>([
    ['no command', {}, /: command is required\./],
    ['an empty command', { command: '' }, /: command must not be empty/],
    ['NUL in the command', { command: `${touch}\0` }, /: command must not contain NUL/],
    ['half a surrogate pair', { command: `${touch} echo \ud800` }, /: command must be valid Unicode/],
    [
      'a command of 2 MiB',
      { command: `${touch}${' '.repeat(2 * mebibyte)}` },
      /: command must be at most 1048576/,
    ],
    [
      '1 MiB and a byte in Unicode',
      { command: `${touch}${'é'.repeat(mebibyte / 2)}` },
      /: command must be at most/,
    ],
    ['a number as the command', { command: 5 }, /: command must be a string, not 5/],
    ['a list as the command', { command: [touch] }, /: command must be a string, not a list/],
    ['timeout_ms -1', { command: touch, timeout_ms: -1 }, /: timeout_ms must be at least 1, not -1/],
    ['timeout_ms 0', { command: touch, timeout_ms: 0 }, /: timeout_ms must be at least 1, not 0/],
    ['timeout_ms 1.5', { command: touch, timeout_ms: 1.5 }, /: timeout_ms must be a whole number, not 1.5/],
    [
      'timeout_ms 1e9',
      { command: touch, timeout_ms: 1e9 },
      /: timeout_ms must be at most 600000, not 1000000000/,
    ],
    ['timeout_ms "5"', { command: touch, timeout_ms: '5' }, /: timeout_ms must be a number, not "5"/],
    ['command null', { command: null, timeout_ms: 5 }, /: command must be a string, not null/],
    ['max_output_chars 0', { command: touch, max_output_chars: 0 }, /: max_output_chars must be at least 1/],
    [
      'an unknown on_timeout',
      { command: touch, on_timeout: 'pray' },
      /: on_timeout must be kill.*, not "pray"/,
    ],
    ['a synonym of a field', { run: touch }, /no field "run" \(Did you mean command\?\)/],
    ['an unknown field', { command: touch, timeout: 5 }, /no field "timeout" \(Did you mean timeout_ms\?\)/],
    ['a number in env', { command: touch, env: { A: 1 } }, /: env\.A must be a string, not 1/],
    ['a bad name in env', { command: touch, env: { '1=': 'x' } }, /: env\.1=: a variable name has/],
    ['NUL in env', { command: touch, env: { A: '\0' } }, /: env\.A: .*must not contain NUL/],
    ['a number as env', { command: touch, env: 1 }, /: env must be /],
    ['a name alone in env', { command: touch, env: ['A'] }, /: env\b/],
    ['an empty cwd', { command: touch, cwd: '' }, /: cwd must not be empty/],
    ['NUL in cwd', { command: touch, cwd: 'a\0b' }, /: cwd must not contain NUL/],
    ['a number as input', { command: touch, input: 5 }, /: input must be a string, not 5/],
    ['broken Unicode as input', { command: touch, input: '\udc00' }, /: input must be valid Unicode/],
    [
      'several problems',
      { command: 1, timeout_ms: 0, x: 1 },
      /command must.*; timeout_ms must.*; there is no field "x"/,
    ],
  ])('%s is an error that names the field, and nothing runs', async (_, args, expected) => {
    const { structured, isError } = await server.call(args);
    expect(isError).toBe(true);
    expect(structured).toMatchObject({ exit_code: null, stdout: '', stderr: '', code: 'invalid_request' });
    expect(structured.error).toMatch(expected);
    expect(String(structured.error).length).toBeLessThan(500);
    expect(readdirSync(server.cwd)).not.toContain('ran');
    expect((await server.call({ command: 'true' })).structured.exit_code).toBe(0);
  });

  it.each([null, [], 'text', 5])('%j as arguments is a protocol error that names the tool', async (args) => {
    const params = { name: 'execute_command', arguments: args as unknown as Record<string, unknown> };
    const error = await protocolError(server.client.callTool(params));
    expect(error.code).toBe(-32602);
    expect(error.message).toMatch(
      /execute_command: arguments must be an object, not .*\. Nothing was run\.$/,
    );
    expect((await server.call({ command: 'true' })).structured.exit_code).toBe(0);
  });

  it('missing arguments and an unknown tool get different errors', async () => {
    const result = await server.client.callTool({ name: 'execute_command' });
    expect(dataOf(result)).toMatchObject({ error: expect.stringContaining('command is required') });
    const error = await protocolError(server.client.callTool({ name: 'run_anything', arguments: {} }));
    expect(error.message).toMatch(/no tool "run_anything".*execute_command/);
  });

  it.each([200_000, mebibyte])('a command of %d bytes is not over-long', async (bytes) => {
    const line = 'echo a line of a long script > /dev/null\n';
    const body = line.repeat(Math.floor((bytes - 20) / line.length));
    const tail = '\nprintf end';
    const command = `${body}${'#'.repeat(bytes - body.length - tail.length)}${tail}`;
    expect(Buffer.byteLength(command)).toBe(bytes);
    expect((await server.call({ command })).structured).toEqual({ exit_code: 0, stdout: 'end', stderr: '' });
  });
});

describe('E6: lines that are not valid messages', () => {
  let server: Awaited<ReturnType<typeof openRaw>>;
  beforeAll(async () => {
    server = await openRaw();
  });
  afterAll(async () => {
    server.child.stdin.end();
    await once(server.child, 'close');
    expect(await survivors(server.mark)).toEqual([]);
  });

  let lastId = 100;
  const request = (id: unknown, more: string, method = 'ping') =>
    `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"method":"${method}"${more}}`;
  const execute = (id: number, command: string) =>
    `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"execute_command","arguments":{"command":"${command}"}}}`;
  const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;

  async function expectAlive(): Promise<void> {
    const { result } = await server.call({ command: 'true' });
    expect(result?.structuredContent?.exit_code).toBe(0);
    expect(readdirSync(server.cwd)).not.toContain('ran');
  }

  it.each<[string, string]>([
    ['garbage', 'garbage\n'],
    ['half a message', '{"jsonrpc":"2.0","id":1,"method"\n'],
    ['empty lines', '\n\n\r\n  \n'],
    ['scalars', '5\n"x"\nnull\ntrue\n'],
    ['a response to no request', '{"jsonrpc":"2.0","id":77,"result":{}}\n'],
    ['a malformed response', '{"jsonrpc":"2.0","id":78,"result":5}\n'],
    ['an unknown notification', '{"jsonrpc":"2.0","method":"notifications/unknown"}\n'],
    [
      'a cancellation of no request',
      '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}\n',
    ],
    ['20 MiB of garbage', `x${'a'.repeat(20 * mebibyte)}\n`],
  ])('%s gets no reply', async (_, text) => {
    const before = server.messages().length;
    server.send(text);
    await expectAlive();
    expect(server.messages().length).toBe(before + 1);
  });

  it.each<[string, string, RegExp]>([
    ['a batch', `[${request('@', '')}]`, /Batches are not supported/],
    ['a message without a method', '{"jsonrpc":"2.0","id":"@"}', /method must be a string/],
    ['a message without a version', '{"id":"@","method":"ping"}', /jsonrpc must be "2\.0"/],
    ['a list as params', request('@', ',"params":[1]'), /params must be an object/],
    ['deeply nested params', request('@', `,"params":${nested(50_000)}`), /params must be an object/],
    ['an invalid progress token', request('@', ',"params":{"_meta":{"progressToken":{}}}'), /params/],
    ['an unknown field', request('@', ',"extra":1'), /unknown fields/],
  ])('%s gets an error', async (_, line, expected) => {
    server.send(`${line.replace('"@"', String(++lastId))}\n`);
    const { error } = await server.answer(lastId);
    expect(error?.code).toBe(-32600);
    expect(error?.message).toMatch(expected);
    await expectAlive();
  });

  it('every request of a batch gets an error', async () => {
    server.send(`[${request('one', '')},[${request('no', '')}],${execute(28, 'touch ran')}]\n`);
    expect((await server.answer('one')).error?.message).toMatch(/Batches/);
    expect((await server.answer(28)).error?.message).toMatch(/Batches/);
    await expectAlive();
  });

  it('invalid UTF-8 gets an error, and nothing runs', async () => {
    const [before = '', after = ''] = execute(20, 'touch ran; echo @').split('@');
    server.send(Buffer.concat([Buffer.from(before), Buffer.from([0xff, 0xfe]), Buffer.from(`${after}\n`)]));
    expect((await server.answer(20)).error).toMatchObject({
      code: -32700,
      message: expect.stringMatching(/UTF-8/),
    });
    await expectAlive();
  });

  it('a message of 20 MiB is refused by the tool, a longer one by the transport, and neither runs', async () => {
    server.send(`${execute(21, `touch ran;${'a'.repeat(20 * mebibyte)}`)}\n`);
    expect(dataOf((await server.answer(21)).result).error).toMatch(/command must be at most/);
    server.send(`${execute(22, `touch ran;${'a'.repeat(25 * mebibyte)}`)}\n`);
    expect((await server.answer(22)).error?.message).toMatch(/longer than 25165824 bytes/);
    await expectAlive();
  });

  it('deep nesting in the arguments gets an error', async () => {
    server.send(`${execute(23, 'touch ran","x":@').replace('@"', nested(50_000))}\n`);
    expect(dataOf((await server.answer(23)).result).error).toMatch(/no field "x"/);
    await expectAlive();
  });

  it('CRLF ends a line, and a chunk may contain part of a message or several messages', async () => {
    server.send(`${request(24, '')}\r\n`);
    expect((await server.answer(24)).result).toEqual({});
    const text = Buffer.from(`${execute(25, 'echo é')}\n${request(26, '')}\n`);
    for (const byte of [text.subarray(0, 30), text.subarray(30, 123), text.subarray(123)]) {
      server.send(byte);
      await sleep(20);
    }
    expect((await server.answer(25)).result?.structuredContent?.stdout).toBe('é\n');
    expect((await server.answer(26)).result).toEqual({});
  });

  it('two calls with the same id both get a result, and leave no process', async () => {
    const nap = `sleep 0.2${process.pid}`;
    server.send(`${execute(27, `${nap}; echo one`)}\n${execute(27, `${nap}; echo two`)}\n`);
    const answers = () => server.messages().filter(({ id }) => id === 27);
    await expect.poll(() => answers().length).toBe(2);
    expect(
      answers()
        .map(({ result }) => result?.structuredContent?.stdout)
        .sort(),
    ).toEqual(['one\n', 'two\n']);
    // Idle keeper shells do not have the text of a command in their argv.
    expect(processesWith(nap)).toEqual([]);
  });
});
