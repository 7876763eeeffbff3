import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { collect, createPlace, survivors } from '../support/nacre.ts';

interface Message {
  readonly role: string;
  readonly content: string;
  readonly tool_calls?: readonly object[];
}
interface Request {
  readonly messages: readonly Message[];
  readonly tools: readonly { readonly function: { readonly name: string } }[];
}

const example = new URL('../../examples/agent.mjs', import.meta.url);
const { runAgent } = await import(example.href);
const place = createPlace();
writeFileSync(join(place.cwd, 'notes.txt'), 'buy milk\n');
afterAll(async () => {
  expect(await survivors(place.mark)).toEqual([]);
});

/** A scripted model: makes one call per turn, then repeats the last tool result. */
function scripted(...turns: readonly (readonly [name: string, input: object])[]) {
  const requests: Request[] = [];
  const model = async (request: Request): Promise<Message> => {
    requests.push(structuredClone(request));
    const turn = turns[requests.length - 1];
    if (turn === undefined) return { role: 'assistant', content: request.messages.at(-1)?.content ?? '' };
    const [name, input] = turn;
    const call = { id: `call_${requests.length}`, function: { name, arguments: JSON.stringify(input) } };
    return { role: 'assistant', content: '', tool_calls: [call] };
  };
  return { model, requests };
}

test('the example is an agent of at most 40 lines', () => {
  expect(readFileSync(example, 'utf8').trimEnd().split('\n').length).toBeLessThanOrEqual(40);
});

test('B15: the example runs the calls of a model and returns the results to it', async () => {
  const { model, requests } = scripted(
    ['Bash', { command: 'cat notes.txt', description: null, timeout: null }],
    ['Bash', { command: 'rm notes.txt' }],
    ['remove_file', { path: 'notes.txt' }],
  );
  const settings = { allowedCommands: ['cat'], stateDir: join(place.cwd, 'state') };
  const answer = await runAgent(model, 'What is in my notes?', settings, { workingDir: place.cwd });
  expect(answer).toContain('There is no tool "remove_file"');
  expect(requests[0]?.tools.map((tool) => tool.function.name)).toContain('Bash');
  const replies = requests.at(-1)?.messages.filter(({ role }) => role === 'tool');
  expect(replies?.map(({ content }) => content)).toEqual([
    expect.stringContaining('buy milk'),
    expect.stringContaining('rm is not allowed'),
    expect.stringContaining('remove_file'),
  ]);
});

test('the example stops after 30 turns of a model that never finishes', async () => {
  const turns = Array.from({ length: 40 }, () => ['ListShells', {}] as const);
  const settings = { stateDir: join(place.cwd, 'state') };
  expect(await runAgent(scripted(...turns).model, 'Continue.', settings)).toBe('Not done after 30 turns.');
});

test('the example calls the Chat Completions API when it is started', async () => {
  const { model } = scripted(['Bash', { command: 'ls' }]);
  const server = createServer(async (request, response) => {
    const message = await model(JSON.parse((await request.toArray()).join('')));
    response.end(JSON.stringify({ choices: [{ message }] }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const env = { ...place.env, OPENAI_BASE_URL: `http://127.0.0.1:${port}`, OPENAI_API_KEY: 'k', MODEL: 'm' };
  const child = spawn(process.execPath, [fileURLToPath(example), 'What is here?'], { cwd: place.cwd, env });
  const [out, err] = [collect(child.stdout), collect(child.stderr)];
  await once(child, 'close');
  server.close();
  expect(err.text()).toBe('');
  expect(out.text()).toContain('notes.txt');
});
