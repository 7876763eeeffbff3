import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { describe, expect, it, vi } from 'vitest';
import { greet } from '../../src/doors/mcp/greet.ts';
import { createPlace, endOf, startReal } from '../support/nacre.ts';

vi.setConfig({ testTimeout: 90_000 });

const clientInfo = { name: 'tester', version: '1' };
const usual = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo };

/** Sends messages to the built server at once, waits for a reply to each request, and returns the replies by id. */
async function talk(messages: readonly object[], settings: Settings = {}) {
  const { env = {}, args = [], userFile } = settings;
  const place = createPlace({ ALLOWED_COMMANDS: 'git,ls', ...env });
  if (userFile !== undefined) {
    mkdirSync(join(place.cwd, '.config/nacre'), { recursive: true });
    writeFileSync(join(place.cwd, '.config/nacre/config.yaml'), userFile);
  }
  const server = startReal(['mcp', ...args], place);
  const ended = endOf(server);
  const expected = messages.filter((message) => 'id' in message).length;
  server.stdin.write(
    messages.map((message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`).join(''),
  );
  let lines = 0;
  server.stdout.on('data', (chunk) => {
    lines += String(chunk).split('\n').length - 1;
    if (lines >= expected) server.stdin.end();
  });
  const replies = (await ended).stdout
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as { readonly id: unknown; readonly result?: object });
  return {
    place,
    ids: replies.map(({ id }) => id),
    at: (id: unknown) => replies.find((one) => one.id === id),
  };
}

interface Settings {
  readonly env?: Readonly<Record<string, string>>;
  readonly args?: readonly string[];
  readonly userFile?: string;
}

const initialized = { method: 'notifications/initialized' };

describe('the first replies of an MCP server', () => {
  it.each<[string, object, Settings]>([
    ['with the default settings', usual, {}],
    ['for an old revision', { ...usual, protocolVersion: '2024-11-05' }, {}],
    ['for revision 2025-03-26', { ...usual, protocolVersion: '2025-03-26' }, {}],
    ['for revision 2025-11-25', { ...usual, protocolVersion: '2025-11-25' }, {}],
    ['for a revision that does not exist', { ...usual, protocolVersion: '2020-01-01' }, {}],
    [
      'for a patient client that reads text',
      { ...usual, clientInfo: { name: 'claude-code', version: '2' } },
      {},
    ],
    [
      'for a client with capabilities',
      {
        ...usual,
        capabilities: { roots: { listChanged: true }, sampling: {}, elicitation: { form: {} } },
        clientInfo: { ...clientInfo, title: 'Tester', websiteUrl: 'https://example.com' },
      },
      {},
    ],
    ['for a client with other capabilities', { ...usual, capabilities: { experimental: { x: {} } } }, {}],
    ['for all families', usual, { args: ['--tools', 'all'] }],
    ['for other time limits', usual, { env: { NACRE_TERMINAL_TIMEOUT_MS: '9000' } }],
    ['for a tool prefix', usual, { env: { NACRE_TOOL_PREFIX: 'n_' } }],
    ['for replies as data', usual, { env: { NACRE_REPLY: 'data' } }],
    ['for a preset in the settings file', usual, { userFile: 'preset: dev-node\nmax_output_chars: 5000\n' }],
    [
      'for a rule in the settings file',
      usual,
      {
        userFile:
          'policy: [{ verdict: deny, program: git, args: [push], reason: no, examples: { matches: [git push] } }]\n',
      },
    ],
  ])('are those of the whole server %s', async (_title, params, settings) => {
    const input = (more: object) => [
      { id: 1, method: 'initialize', params: { ...params, ...more } },
      initialized,
      { id: 'two', method: 'tools/list', params: more },
    ];
    // The greeting leaves messages with `_meta` to the whole server.
    const whole = await talk(input({ _meta: {} }), settings);
    const greeted = await talk(input({}), settings);
    const withoutPlace = ({ at, place }: typeof whole) =>
      JSON.parse(JSON.stringify([at(1), at('two')]).replaceAll(place.cwd, '/place'));
    expect(withoutPlace(greeted)).toEqual(withoutPlace(whole));
    expect(greeted.at('two')).toHaveProperty('result.tools');
    expect(new Set(greeted.ids)).toEqual(new Set([1, 'two']));
    expect(greeted.ids).toHaveLength(2);
  });

  it('are followed by those to all other messages, each once', async () => {
    const call = { name: 'execute_command', arguments: { command: 'ls -d /' } };
    const { at, ids } = await talk([
      { id: 1, method: 'initialize', params: usual },
      initialized,
      { id: 2, method: 'tools/list' },
      { id: 3, method: 'ping' },
      { id: 4, method: 'tools/list', params: {} },
      { id: 5, method: 'tools/call', params: call },
      { id: 6, method: 'nonsense' },
    ]);
    expect([...ids].sort()).toEqual([1, 2, 3, 4, 5, 6]);
    expect(at(4)?.result).toEqual(at(2)?.result);
    expect(at(5)).toMatchObject({ result: { structuredContent: { exit_code: 0, stdout: '/\n' } } });
    expect(at(6)).toHaveProperty('error');
  });

  it('are errors for messages that are not valid', async () => {
    const { at, ids } = await talk([
      { id: 1, method: 'tools/list' },
      { id: 2, method: 'initialize', params: { ...usual, clientInfo: {} } },
    ]);
    expect([...ids].sort()).toEqual([1, 2]);
    expect(at(2)).toHaveProperty('error');
  });
});

describe('greet', () => {
  const greeting = { reply: 'auto' as const, instructions: async () => 'Be brief.', list: () => [] };
  const open = () => {
    const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
    const interruption = new AbortController();
    const done = greet({ stdin, stdout, stderr, interrupted: interruption.signal }, greeting, '1.2.3');
    const send = (message: object) => stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
    return { stdin, stdout, done, send, interrupt: () => interruption.abort('SIGTERM') };
  };
  const read = async (stream: AsyncIterable<unknown>) => {
    let text = '';
    for await (const chunk of stream) text += String(chunk);
    return text;
  };

  it('answers, and puts everything that it read back', async () => {
    const { stdin, stdout, done, send } = open();
    send({ id: 1, method: 'initialize', params: usual });
    send({ id: 2, method: 'tools/list' });
    const greeted = await done;
    expect([...greeted.answered]).toEqual([1, 2]);
    expect(greeted.introduced).toBe('Be brief.');
    expect(String(stdout.read()).split('\n')).toHaveLength(3);
    send({ id: 3, method: 'ping' });
    stdin.end();
    expect((await read(greeted.stdin)).split('\n').map((line) => line.slice(0, 22))).toEqual([
      ...[1, 2, 3].map((id) => `{"jsonrpc":"2.0","id":${id}`.slice(0, 22)),
      '',
    ]);
  });

  it('ends when stdin has ended, is silent or a signal arrives', async () => {
    const [ended, silent, stopped] = [open(), open(), open()];
    ended.send({ id: 1, method: 'initialize', params: usual });
    ended.stdin.end();
    stopped.interrupt();
    const results = await Promise.all([ended.done, silent.done, stopped.done]);
    expect(await read(results[0].stdin)).toContain('initialize');
    expect(results.map(({ answered }) => [...answered])).toEqual([[1], [], []]);
    expect(results.map(({ isOver }) => isOver)).toEqual([true, false, false]);
  });

  it('leaves half a line, and a line that is not JSON, to the whole server', async () => {
    const { stdin, done } = open();
    stdin.write('{"jsonrpc":"2.0","id":1,');
    stdin.write('nonsense\n{"half');
    const greeted = await done;
    stdin.end('"}\n');
    expect(await read(greeted.stdin)).toBe('{"jsonrpc":"2.0","id":1,nonsense\n{"half"}\n');
    expect(greeted.answered.size).toBe(0);
    expect(greeted.isOver).toBe(false);
  });
});
