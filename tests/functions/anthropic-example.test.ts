import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import Anthropic from '@anthropic-ai/sdk';
import { afterAll, expect, test } from 'vitest';
import { createNacre, ToolRegistry, toAnthropicBash } from '../../src/index.ts';
import { collect, createPlace, surroundingsOf, survivors } from '../support/nacre.ts';

type Request = Anthropic.MessageCreateParamsNonStreaming;
type Call = readonly [name: string, input: object];

const example = new URL('../../examples/anthropic-agent.mjs', import.meta.url);
const { runAgent } = await import(example.href);
const place = createPlace();
writeFileSync(join(place.cwd, 'notes.txt'), 'buy milk\n');
const context = { workingDir: place.cwd };
const stateDir = join(place.cwd, 'state');
afterAll(async () => {
  expect(await survivors(place.mark)).toEqual([]);
  rmSync(place.cwd, { recursive: true, force: true });
});

/** A scripted model behind Anthropic's client: makes these calls turn by turn, then repeats the last tool results. */
function scripted(...turns: readonly (readonly Call[])[]) {
  const requests: Request[] = [];
  const answer = (request: Request): Anthropic.Message => {
    requests.push(request);
    const calls = turns[requests.length - 1];
    const content = calls?.map(([name, input], index) => ({
      ...{ type: 'tool_use' as const, id: `toolu_${requests.length}_${index}`, name, input },
      caller: { type: 'direct' as const },
    }));
    const said = { type: 'text' as const, text: lastResults(request), citations: null };
    return {
      ...{
        id: 'msg_1',
        type: 'message',
        role: 'assistant',
        model: request.model,
        content: content ?? [said],
      },
      ...{ stop_reason: content ? 'tool_use' : 'end_turn', stop_sequence: null },
    } as Anthropic.Message;
  };
  const client = new Anthropic({
    apiKey: 'k',
    fetch: async (_url, init) => Response.json(answer(JSON.parse(String(init?.body)))),
  });
  const model = (request: Omit<Request, 'model'>) =>
    client.messages.create({ model: 'scripted', ...request });
  return { model, requests, answer };
}

function lastResults({ messages }: Request): string {
  return results(messages.at(-1))
    .map(({ content }) => String(content))
    .join('|');
}

function results(message: Anthropic.MessageParam | undefined): Anthropic.ToolResultBlockParam[] {
  const blocks = typeof message?.content === 'string' ? [] : (message?.content ?? []);
  return blocks.filter((block) => block.type === 'tool_result');
}

test("B15: Anthropic's client accepts the tools, and the example runs the model's calls", async () => {
  const { model, requests } = scripted(
    [
      ['Bash', { command: 'cat notes.txt' }],
      ['Bash', { command: 'rm notes.txt' }],
    ],
    [['remove_file', { path: 'notes.txt' }]],
  );
  const settings = { allowedCommands: ['cat'], stateDir, context };
  const answer = await runAgent(model, 'What is in my notes?', settings);
  expect(answer).toContain('There is no tool "remove_file"');
  expect(requests[0]?.tools?.map((tool) => 'name' in tool && tool.name)).toContain('Bash');
  expect(results(requests[1]?.messages.at(-1))).toMatchObject([
    { tool_use_id: 'toolu_1_0', content: expect.stringContaining('buy milk'), is_error: false },
    { tool_use_id: 'toolu_1_1', content: expect.stringContaining('rm is not allowed'), is_error: true },
  ]);
});

test('bash_20250124 runs in the persistent shell, which can be restarted', async () => {
  const { model, requests } = scripted(
    [['bash', { command: 'cd / && what=kept' }]],
    [['bash', { command: 'echo "$what $PWD"' }]],
    [['bash', { restart: true }]],
    [['bash', { command: 'echo "[$what] $PWD"; ls nothing-here' }]],
    [['bash', {}]],
  );
  const answer = await runAgent(model, 'Try the shell.', { native: true, stateDir, context });
  expect(answer).toContain('Pass a command, or restart: true.');
  expect(requests[0]?.tools).toEqual([{ type: 'bash_20250124', name: 'bash' }]);
  const replies = requests.slice(1).map(({ messages }) => results(messages.at(-1))[0]);
  expect(replies.map((one) => one?.is_error)).toEqual([false, false, false, true, true]);
  expect(replies[1]?.content).toBe('kept /\n');
  expect(replies[2]?.content).toBe('The shell has been restarted.');
  expect(replies[3]?.content).toContain(`[] ${place.cwd}\n`);
  expect(replies[3]?.content).toContain('nothing-here');
});

test('a restart that cannot kill the shell is a failed result', async () => {
  expect(await toAnthropicBash(new ToolRegistry()).run({ restart: true })).toMatchObject({
    success: false,
    error: expect.stringContaining('There is no tool "KillShell"'),
  });
});

test('a tool that a program registers is offered to other vendors too', async () => {
  const nacre = await createNacre({ stateDir }, surroundingsOf(place));
  try {
    const bash = toAnthropicBash(nacre.registry);
    const definition: Anthropic.ToolBash20250124 = bash.definition;
    expect(definition).toEqual({ type: 'bash_20250124', name: 'bash' });
    nacre.registry.register(bash);
    expect(nacre.registry.getAllSchemas('openai').at(-1)?.function.name).toBe('bash');
    expect(await nacre.registry.execute('bash', '{"command":null,"restart":true}')).toMatchObject({
      success: true,
      metadata: { restarted: true },
    });
    expect(await bash.run('echo')).toMatchObject({ success: false });
    const side = await bash.run({ command: 'side=1; echo $side' }, { session: 'side' });
    expect(side.output).toBe('1\n');
    await bash.run({ restart: true }, { session: 'side' });
    expect((await bash.run({ command: 'echo [$side]' }, { session: 'side' })).output).toBe('[]\n');
  } finally {
    await nacre.close();
  }
});

test('the example stops after 30 turns of a model that never finishes', async () => {
  const turns = Array.from({ length: 40 }, () => [['ListShells', {}]] as const);
  expect(await runAgent(scripted(...turns).model, 'Continue.', { stateDir })).toBe(
    'Not done after 30 turns.',
  );
});

test('the example calls the Messages API when it is started', async () => {
  const { answer } = scripted([['bash', { command: 'ls' }]]);
  const server = createServer(async (request, response) => {
    expect(request.headers).toMatchObject({ 'x-api-key': 'k', 'anthropic-version': '2023-06-01' });
    response.end(JSON.stringify(answer(JSON.parse((await request.toArray()).join('')))));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const own = { ANTHROPIC_BASE_URL: `http://127.0.0.1:${port}`, ANTHROPIC_API_KEY: 'k', MODEL: 'm' };
  const child = spawn(process.execPath, [fileURLToPath(example), 'What is here?', '--native'], {
    cwd: place.cwd,
    env: { ...place.env, ...own },
  });
  const [out, err] = [collect(child.stdout), collect(child.stderr)];
  await once(child, 'close');
  server.close();
  expect(err.text()).toBe('');
  expect(out.text()).toContain('notes.txt');
});
