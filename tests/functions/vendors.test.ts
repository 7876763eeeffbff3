// Checks our schemas with each vendor's own package: its types at compile time, its client at run time.
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import Anthropic from '@anthropic-ai/sdk';
import { type GenerateContentParameters, GoogleGenAI, Type } from '@google/genai';
import { ToolMessage } from '@langchain/core/messages';
import { DynamicStructuredTool } from '@langchain/core/tools';
import { generateText, stepCountIs, type ToolSet } from 'ai';
import { MockLanguageModelV3 } from 'ai/test';
import OpenAI from 'openai';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createNacre, type Nacre, toText } from '../../src/index.ts';
import { createPlace, surroundingsOf, survivors } from '../support/nacre.ts';

const place = createPlace();
const command = 'echo $((6 * 7))';
const messages = [{ role: 'user' as const, content: 'How much is it?' }];
let nacre: Nacre<'all'>;

beforeAll(async () => {
  nacre = await createNacre({ tools: ['all'], allowedCommands: ['echo'] }, surroundingsOf(place));
});
afterAll(async () => {
  await nacre.close();
  expect(await survivors(place.mark)).toEqual([]);
  rmSync(place.cwd, { recursive: true, force: true });
});

/** A fake vendor server: records the requests, and replies with `answers` in order. */
function scripted(...answers: readonly object[]) {
  const sent: unknown[] = [];
  const answer = (body: string) => {
    sent.push(JSON.parse(body));
    return answers[sent.length - 1] ?? {};
  };
  const fetch = async (_url: unknown, init?: { readonly body?: unknown }) =>
    Response.json(answer(String(init?.body)));
  return { sent, answer, fetch };
}

test("B15: OpenAI's Chat Completions API accepts the tools, and its calls are executed", async () => {
  const call = { id: 'c1', type: 'function', function: { name: 'Bash', arguments: '' } };
  call.function.arguments = JSON.stringify({ command, description: null, timeout: null });
  const { sent, fetch } = scripted({ choices: [{ message: { role: 'assistant', tool_calls: [call] } }] });
  const client = new OpenAI({ apiKey: 'k', fetch });
  const request: OpenAI.ChatCompletionCreateParamsNonStreaming = {
    model: 'm',
    messages,
    tools: nacre.registry.getAllSchemas('openai'),
  };
  const { choices } = await client.chat.completions.create(request);
  expect(sent).toEqual([JSON.parse(JSON.stringify(request))]);
  const toolCall = choices[0]?.message.tool_calls?.[0];
  if (toolCall?.type !== 'function') throw new Error('no call');
  const result = await nacre.registry.execute(toolCall.function.name, toolCall.function.arguments);
  const reply: OpenAI.ChatCompletionToolMessageParam = {
    role: 'tool',
    tool_call_id: toolCall.id,
    content: toText(result),
  };
  expect(reply.content).toBe('42\n');
});

test("B15: OpenAI's Responses API accepts the tools, and its calls are executed", async () => {
  const call = { type: 'function_call', call_id: 'c1', name: 'Bash', arguments: JSON.stringify({ command }) };
  const { sent, fetch } = scripted({ output: [call] });
  const client = new OpenAI({ apiKey: 'k', fetch });
  const tools: OpenAI.Responses.Tool[] = nacre.registry.getAllSchemas('openai-responses');
  const { output } = await client.responses.create({ model: 'm', input: 'x', tools });
  expect(sent).toMatchObject([{ tools: [{ type: 'function', strict: true }, ...tools.slice(1)] }]);
  const [toolCall] = output;
  if (toolCall?.type !== 'function_call') throw new Error('no call');
  expect(toText(await nacre.registry.execute(toolCall.name, toolCall.arguments))).toBe('42\n');
});

test("B15: Anthropic's Messages API accepts the tools, also strict ones", async () => {
  const { sent, fetch } = scripted({
    content: [{ type: 'tool_use', id: 't', name: 'Bash', input: { command } }],
  });
  const client = new Anthropic({ apiKey: 'k', fetch });
  const tools: Anthropic.ToolUnion[] = [
    ...nacre.registry.getAllSchemas('anthropic'),
    ...nacre.registry.getAllSchemas('anthropic', { strict: true }),
  ];
  const { content } = await client.messages.create({ model: 'm', max_tokens: 9, messages, tools });
  expect(sent).toMatchObject([{ tools: JSON.parse(JSON.stringify(tools)) }]);
  const [toolCall] = content;
  if (toolCall?.type !== 'tool_use') throw new Error('no call');
  expect(toText(await nacre.registry.execute(toolCall.name, toolCall.input))).toBe('42\n');
});

test("B15: Gemini's client accepts the declarations, with types that it knows", async () => {
  const part = { functionCall: { name: 'Bash', args: { command } } };
  const { sent, answer } = scripted({ candidates: [{ content: { role: 'model', parts: [part] } }] });
  const server = createServer(async (request, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify(answer((await request.toArray()).join(''))));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const functionDeclarations = nacre.registry.getAllSchemas('gemini');
  const request: GenerateContentParameters = {
    model: 'm',
    contents: 'How much is it?',
    config: { tools: [{ functionDeclarations }] },
  };
  try {
    const client = new GoogleGenAI({ apiKey: 'k', httpOptions: { baseUrl } });
    const { functionCalls } = await client.models.generateContent(request);
    expect(sent).toMatchObject([{ tools: [{ functionDeclarations }] }]);
    const [toolCall] = functionCalls ?? [];
    expect(toText(await nacre.registry.execute(toolCall?.name ?? '', toolCall?.args))).toBe('42\n');
  } finally {
    server.close();
  }
  const types = [...JSON.stringify(functionDeclarations).matchAll(/"type":"(\w+)"/g)].map(([, type]) => type);
  expect(types.length).toBeGreaterThan(10);
  expect(Object.values(Type)).toEqual(expect.arrayContaining(types));
});

test('B15: the AI SDK calls the tools until the model is done', async () => {
  const usage = {
    inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 1, text: 1, reasoning: 0 },
  };
  const prompts: unknown[] = [];
  const model = new MockLanguageModelV3({
    doGenerate: async ({ prompt, tools }) => {
      prompts.push({ prompt, tools });
      const call = {
        type: 'tool-call',
        toolCallId: 'c',
        toolName: 'Bash',
        input: JSON.stringify({ command }),
      };
      return prompts.length === 1
        ? { content: [call as never], finishReason: { unified: 'tool-calls', raw: '' }, usage, warnings: [] }
        : {
            content: [{ type: 'text', text: 'Done.' }],
            finishReason: { unified: 'stop', raw: '' },
            usage,
            warnings: [],
          };
    },
  });
  const tools: ToolSet = nacre.registry.getAllSchemas('ai-sdk');
  const { text, steps } = await generateText({ model, tools, prompt: 'x', stopWhen: stepCountIs(5) });
  expect(text).toBe('Done.');
  expect(steps[0]?.toolResults[0]?.output).toMatchObject({ success: true, output: '42\n' });
  const bash = nacre.registry.get('Bash')?.inputSchema();
  expect(prompts[0]).toMatchObject({
    tools: expect.arrayContaining([expect.objectContaining({ name: 'Bash', inputSchema: bash })]),
  });
  expect(JSON.stringify(prompts[1])).toContain('42');
});

test('B15: LangChain creates tools from the fields, and their messages have the result as artifact', async () => {
  const tools = nacre.registry.getAllSchemas('langchain').map((fields) => new DynamicStructuredTool(fields));
  const bash = tools.find(({ name }) => name === 'Bash');
  const message = await bash?.invoke({ type: 'tool_call', id: 'c1', name: 'Bash', args: { command } });
  if (!(message instanceof ToolMessage)) throw new Error('no message');
  expect(message).toMatchObject({ tool_call_id: 'c1', content: '42\n', artifact: { success: true } });
});
