import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineTool } from './define-tool.ts';
import type { ToolReply } from './tool.ts';

const reply = (text: string): ToolReply => ({ text, structured: { text }, isError: false });
const context = { caller: { door: 'functions', client: 'a test' }, owner: 'a test' } as const;

const echo = defineTool({
  name: 'echo',
  title: 'Echo',
  description: 'Repeats the text.',
  annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  input: z.strictObject({ text: z.string(), times: z.int().min(1).max(3).default(1) }),
  output: z.object({ text: z.string(), more: z.string().optional() }),
  async run({ text, times }) {
    if (text === 'fail') throw new Error('on purpose');
    return reply(text.repeat(times));
  },
  fail: (error) => ({ ...reply(error instanceof Error ? error.message : 'unknown'), isError: true }),
});

describe('defineTool', () => {
  it('validates the input, fills in defaults and runs the tool', async () => {
    expect(await echo.call({ text: 'a', times: 3 }, context)).toEqual(reply('aaa'));
    expect(await echo.call({ text: 'a' }, context)).toEqual(reply('a'));
  });

  it('turns invalid input and errors into replies with fail', async () => {
    expect(await echo.call({ text: 5 }, context)).toMatchObject({
      isError: true,
      text: expect.stringContaining('text must be'),
    });
    expect(await echo.call({ text: 'fail' }, context)).toMatchObject({ isError: true, text: 'on purpose' });
  });

  it('derives schemas in which a field with a default is not required', () => {
    expect(echo.inputSchema()).toEqual({
      type: 'object',
      properties: {
        text: { type: 'string' },
        times: { type: 'integer', minimum: 1, maximum: 3, default: 1 },
      },
      required: ['text'],
      additionalProperties: false,
    });
    expect(echo.outputSchema()).toMatchObject({ type: 'object', required: ['text'] });
  });

  it('adds empty properties to the schema of a tool without fields', () => {
    const { inputSchema } = defineTool({
      ...echo,
      input: z.strictObject({}),
      output: z.object({}),
      run: async () => reply(''),
      fail: () => reply(''),
    });
    expect(inputSchema()).toEqual({ type: 'object', properties: {}, additionalProperties: false });
  });
});
