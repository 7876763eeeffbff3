import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SchemaObject } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { type Answer, eras, type ServerOptions } from '../support/mcp.ts';
import { shareServers } from './shared-servers.ts';

const share = shareServers();
const serve = (allowed: string, options: ServerOptions = {}) =>
  share({ ...options, env: { ALLOWED_COMMANDS: allowed, ...options.env } });

const idOf = ({ structured }: Answer) => String(structured.command_id);

describe.concurrent.each(eras)('T9: commands that outlive their call, over MCP %s', (era) => {
  it('a prompt is detected and answered, and the command is read to its end', async () => {
    const server = await serve('*', { era });
    const started = await server.use('start_command', {
      command: 'printf "Name? "; read -r name; echo "Hello $name"; sleep 0.2; exit 7',
      wait_ms: 20_000,
    });
    expect(started.isError).toBe(false);
    expect(started.structured).toMatchObject({
      command_id: expect.stringMatching(/^cmd_/),
      status: 'running',
      reason: 'awaiting_input',
      awaiting_input: true,
      prompt: 'Name?',
      stdout: 'Name? ',
      cursor: 6,
    });
    const answered = await server.use('write_input', {
      command_id: idOf(started),
      text: 'Ada\n',
      wait_ms: 20_000,
    });
    expect(answered.structured).toMatchObject({
      status: 'failed',
      exit_code: 7,
      reason: 'ended',
      stdout: 'Hello Ada\n',
    });
    expect(parse(answered.text)).toEqual(answered.structured);
    const again = await server.use('read_output', { command_id: idOf(started), cursor: 0 });
    expect(again.structured).toMatchObject({ stdout: 'Name? Hello Ada\n', exit_code: 7 });
  });

  it('a server is awaited by a pattern, found by its name, listed with its port, and stopped', async ({
    expect,
  }) => {
    const server = await serve('*', { era });
    const script = `require("net").createServer().listen(0, "127.0.0.1", function () { console.log("port " + this.address().port) })`;
    const started = await server.use('start_command', {
      command: `node -e '${script}'`,
      name: 'web',
      wait_for: 'port \\d+$',
      wait_ms: 30_000,
    });
    expect(started.structured).toMatchObject({ name: 'web', reason: 'matched', status: 'running' });
    const port = Number(/\d+/.exec(String(started.structured.stdout))?.[0]);
    const listed = async (status: 'running' | 'ended') => {
      const { commands } = (await server.use('list_commands', { status })).structured;
      return (commands as { name?: string }[]).filter(({ name }) => name === 'web');
    };
    // `cpu_ms` is sampled at intervals.
    await expect
      .poll(async () => Object.keys((await listed('running'))[0] ?? {}), { timeout: 10_000 })
      .toContain('cpu_ms');
    expect(await listed('running')).toEqual([
      expect.objectContaining({
        command_id: idOf(started),
        name: 'web',
        status: 'running',
        ports: [port],
        memory_bytes: expect.any(Number),
        age_ms: expect.any(Number),
      }),
    ]);
    const stopped = await server.use('stop_command', { command_id: 'web' });
    expect(stopped.structured).toMatchObject({ status: 'killed', signal: 'SIGINT', exit_code: 130 });
    const twice = await server.use('stop_command', { command_id: 'web' });
    expect(twice).toMatchObject({ isError: false, structured: { status: 'killed' } });
    expect(await listed('running')).toEqual([]);
    expect(await listed('ended')).toMatchObject([{ name: 'web', status: 'killed' }]);
  });

  it('T1: a timed-out command keeps running in the background, and no byte of its output is lost', async () => {
    const server = await serve('*', { era });
    const detached = await server.call({
      command: 'for i in 1 2 3 4 5 6; do echo "line $i"; sleep 0.1; done',
      timeout_ms: 250,
      on_timeout: 'background',
    });
    expect(detached.isError).toBe(false);
    const keys = Object.keys(detached.structured);
    expect(keys[0]).toBe('exit_code');
    expect(keys.indexOf('command_id')).toBeLessThan(keys.indexOf('stdout'));
    expect(detached.structured).toMatchObject({
      exit_code: null,
      status: 'running',
      hint: expect.stringContaining('read_output'),
    });
    const rest = await server.use('read_output', { command_id: idOf(detached), wait_ms: 30_000 });
    expect(`${detached.structured.stdout}${rest.structured.stdout}`).toBe(
      [1, 2, 3, 4, 5, 6].map((i) => `line ${i}\n`).join(''),
    );
    expect(rest.structured).toMatchObject({ status: 'completed', exit_code: 0 });
    const quick = await server.call({ command: 'cat', input: 'in time', on_timeout: 'background' });
    expect(quick.structured).toEqual({ exit_code: 0, stdout: 'in time', stderr: '' });
  });
});

describe.concurrent('T9: start_command', () => {
  it('obeys ALLOWED_COMMANDS and ALLOWED_CWD_ROOTS like execute_command', async () => {
    const server = await serve('bash,echo,sleep', { env: { ALLOWED_CWD_ROOTS: '/usr' } });
    const refused = await server.use('start_command', { command: 'sleep 1.25; touch ran' });
    expect(refused).toMatchObject({ isError: true, structured: { code: 'policy_denied' } });
    expect(refused.structured.error).toMatch(/touch .*not allowed/);
    const outside = await server.use('start_command', { command: 'sleep 1.25', cwd: '/etc' });
    expect(outside.structured).toMatchObject({ code: 'cwd_not_allowed' });
    const { commands } = (await server.use('list_commands', {})).structured;
    const listed = (commands as { command: string }[]).filter(({ command }) => command.includes('1.25'));
    expect(listed).toEqual([]);
  });

  it('returns when output stops for idle_ms, and input for a shell is checked by policy', async () => {
    const server = await serve('bash,echo,sleep', { env: { ALLOWED_CWD_ROOTS: '/usr' } });
    const quiet = await server.use('start_command', {
      command: 'echo one; sleep 60 </dev/null',
      idle_ms: 400,
      wait_ms: 30_000,
    });
    expect(quiet.structured).toMatchObject({ reason: 'idle', stdout: 'one\n' });
    const shell = await server.use('start_command', { command: 'bash', wait_ms: 10_000 });
    expect(shell.structured).toMatchObject({ reason: 'awaiting_input' });
    const typed = await server.use('write_input', { command_id: idOf(shell), text: 'echo hi\n' });
    expect(typed.structured).toMatchObject({ stdout: 'hi\n' });
    const refused = await server.use('write_input', { command_id: idOf(shell), text: 'touch ran\n' });
    expect(refused).toMatchObject({ isError: true, structured: { code: 'policy_denied' } });
    const closed = await server.use('write_input', { command_id: idOf(shell), eof: true, wait_ms: 10_000 });
    expect(closed.structured).toMatchObject({ reason: 'ended', exit_code: 0 });
  });
});

describe.concurrent('T9: read_output', () => {
  it('returns both ends of long output, and the middle by cursor', async () => {
    const server = await serve('*');
    const much = await server.use('start_command', { command: 'seq 1 20000', wait_ms: 20_000 });
    const { stdout, left_out_from: from } = much.structured;
    expect(stdout).toMatch(/^1\n2\n[\s\S]*\[Output truncated[\s\S]*\n20000\n$/);
    expect(String(stdout).split('\n').length).toBeLessThan(1_900);
    expect(much.structured.left_out).toEqual({ bytes: expect.any(Number) });
    const middle = await server.use('read_output', {
      command_id: idOf(much),
      cursor: Number(from),
      max_output_chars: 200_000,
    });
    const before = String(stdout).split('\n[Output truncated')[0]?.split('\n').at(-1);
    expect(String(middle.structured.stdout).split('\n')[0]).toBe(String(Number(before) + 1));
    const tail = await server.use('read_output', {
      command_id: idOf(much),
      view: 'tail',
      max_output_chars: 12,
    });
    expect(tail.structured.stdout).toBe('19999\n20000\n');
  });

  it('filters lines, can preserve escape codes, and can read a single stream', async () => {
    const server = await serve('*');
    const command = 'printf "\\e[31mred\\e[0m\\nplain\\n"; echo problem >&2';
    const id = idOf(await server.use('start_command', { command, wait_ms: 20_000 }));
    const read = async (options: object) =>
      (await server.use('read_output', { command_id: id, cursor: 0, wait_ms: 0, ...options })).structured;
    expect(await read({})).toMatchObject({ stdout: 'red\nplain\n', stderr: 'problem\n' });
    expect(await read({ view: 'raw' })).toMatchObject({ stdout: '\u001b[31mred\u001b[0m\nplain\n' });
    expect(await read({ filter: '^p' })).toMatchObject({ stdout: 'plain\n', stderr: 'problem\n' });
    expect(await read({ stream: 'stderr' })).toMatchObject({ stdout: '', stderr: 'problem\n' });
    expect(await read({ filter: '(' })).toMatchObject({ code: 'invalid_request' });
    expect(await read({ cursor: 999 })).toMatchObject({ code: 'invalid_request' });
  });

  it('reports job_not_found for an unknown command', async () => {
    const server = await serve('*');
    for (const tool of ['read_output', 'write_input', 'stop_command']) {
      const answer = await server.use(tool, { command_id: 'cmd_000000000000' });
      expect(answer).toMatchObject({ isError: true, structured: { code: 'job_not_found' } });
    }
  });
});

it.concurrent('T9: every reply of these tools is valid against its advertised outputSchema', async () => {
  const server = await serve('*');
  const { tools } = await server.client.listTools();
  const check = (name: string, { structured }: Answer) => {
    const schema = tools.find((tool) => tool.name === name)?.outputSchema as SchemaObject;
    const valid = new Ajv2020().compile(schema);
    expect([valid(structured), valid.errors]).toEqual([true, null]);
    return structured;
  };
  const use = async (name: string, args: Record<string, unknown>) =>
    check(name, await server.use(name, args));
  const { command_id } = await use('start_command', { command: 'cat; kill -9 $$', name: 'cat' });
  await use('write_input', { command_id, text: 'x\n' });
  await use('list_commands', {});
  await use('write_input', { command_id, eof: true });
  expect(await use('stop_command', { command_id })).toMatchObject({ signal: 'SIGKILL' });
  for (const { name } of tools) await use(name, { nonsense: true });
  for (const { description } of tools) expect(description).toContain('Example: {');
});

describe.concurrent.each(eras)('T9: a terminal over MCP %s', (era) => {
  it('a full-screen program is controlled with keys and read as a screen', async ({ expect }) => {
    const server = await serve('*', { era });
    const started = await server.use('start_command', {
      command: 'exec vim -u NONE -N note.txt',
      pty: true,
      cols: 60,
      rows: 10,
      wait_ms: 20_000,
    });
    expect(started).toMatchObject({ isError: false, structured: { status: 'running' } });
    const command_id = idOf(started);
    await server.use('write_input', { command_id, text: 'ihello there', keys: ['esc'], wait_ms: 2_000 });
    const screen = async () =>
      (await server.use('read_output', { command_id, view: 'screen', wait_ms: 0 })).structured;
    await expect.poll(async () => (await screen()).screen, { timeout: 10_000 }).toMatch(/^hello there\n~\n/);
    await expect
      .poll(async () => (await screen()).screen_cursor, { timeout: 10_000 })
      .toEqual({ row: 1, col: 11 });
    const resized = await server.use('write_input', {
      command_id,
      resize: { cols: 200, rows: 60 },
      view: 'screen',
    });
    expect(resized.isError).toBe(false);
    const ended = await server.use('write_input', {
      command_id,
      text: ':wq',
      keys: ['enter'],
      wait_ms: 20_000,
    });
    expect(ended.structured).toMatchObject({ status: 'completed', exit_code: 0 });
    expect(readFileSync(join(server.cwd, 'note.txt'), 'utf8')).toBe('hello there\n');
  });
});
