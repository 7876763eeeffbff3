import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createNacre,
  type ExecutionContext,
  type FunctionTool,
  type Nacre,
  registerExecutionTools,
  ToolRegistry,
  toText,
} from '../../src/index.ts';
import { createPlace, surroundingsOf, survivors } from '../support/nacre.ts';

const place = createPlace();
let nacre: Nacre<'terminal'>;
beforeAll(async () => {
  nacre = await createNacre({ tools: ['terminal'], allowedCommands: ['*'] }, surroundingsOf(place));
});
afterAll(async () => {
  await nacre.close();
  expect(await survivors(place.mark)).toEqual([]);
});

const calls: [unknown, ExecutionContext | undefined][] = [];
const note: FunctionTool = {
  name: 'note',
  description: 'Notes it.',
  category: 'notes',
  inputSchema: () => ({ type: 'object', properties: { text: { type: 'string' } } }),
  async run(input, context) {
    calls.push([input, context]);
    return { success: true, output: 'noted', metadata: {} };
  },
};

describe('ToolRegistry', () => {
  it('B15: lists tools by name and by category, in the order of registration', () => {
    const registry = registerExecutionTools(new ToolRegistry()).register(note);
    const own = nacre.registry.list().map(({ name }) => name);
    expect(registry.list().map(({ name }) => name)).toEqual([...own, 'note']);
    expect(registry.list('execution').map(({ name }) => name)).toEqual(own);
    expect(registry.list('notes')).toEqual([note]);
    expect(registry.list('other')).toEqual([]);
    expect(registry.get('note')).toBe(note);
    expect(registry.get('nothing')).toBeUndefined();
  });

  it('B15: refuses a name that is in use, or invalid for a vendor', () => {
    const registry = new ToolRegistry().register(note);
    expect(() => registry.register({ ...note })).toThrow('Another tool note is already registered.');
    for (const name of ['', 'a b', '1a', 'é', 'x'.repeat(65)])
      expect(() => registry.register({ ...note, name })).toThrow(/is not a valid tool name/);
    expect(registry.list()).toEqual([note]);
  });

  it('B15: accepts the same tool twice, and removes tools by name', () => {
    const registry = registerExecutionTools(registerExecutionTools(new ToolRegistry()));
    registry.register(note).register(note);
    expect(registry.list()).toHaveLength(nacre.registry.list().length + 1);
    expect([registry.has('note'), registry.has('nothing')]).toEqual([true, false]);
    expect([registry.unregister('note'), registry.unregister('note')]).toEqual([true, false]);
    expect(registry.has('note')).toBe(false);
    registerExecutionTools(nacre.registry);
  });

  it.each([
    [
      'opanai',
      'There is no vendor "opanai". Did you mean openai? The vendors are openai, openai-responses, ',
    ],
    ['OpenAI', 'There is no vendor "OpenAI". Did you mean openai? The vendors are openai, '],
    ['toString', 'There is no vendor "toString". The vendors are openai, '],
    [undefined, 'There is no vendor of type undefined. The vendors are openai, '],
    [{}, 'There is no vendor of type object. The vendors are openai, '],
  ])('B15: answers the unknown vendor %j with the list and the nearest name', (vendor, message) => {
    const ask = () => new ToolRegistry().register(note).getAllSchemas(vendor as 'openai');
    expect(ask).toThrow(message);
    expect(ask).toThrow(/openai-responses, anthropic, gemini, ai-sdk, langchain, mcp\.$/);
    expect(ask).toThrow(
      expect.objectContaining({ code: 'invalid_request', hint: expect.stringContaining('getAllSchemas') }),
    );
  });

  it('B15: calls a tool with the arguments of a model and the context', async () => {
    const registry = new ToolRegistry().register(note);
    const context = { session: 'two' };
    expect(await registry.execute('note', '{"text":null}', context)).toMatchObject({ output: 'noted' });
    expect(calls.at(-1)).toEqual([{}, context]);
  });

  it('B15: suggests existing names for an unknown one', async () => {
    const registry = new ToolRegistry().register(note);
    const nearly = { success: false, output: '', metadata: {} };
    expect(await registry.execute('note_', {})).toEqual({
      ...nearly,
      error: 'There is no tool "note_". Did you mean note?',
    });
    expect(await registry.execute('frobnicate', {})).toEqual({
      ...nearly,
      error: 'There is no tool "frobnicate". Tools: note.',
    });
  });

  it('B2: returns output and error of nacre’s own tools separately', async () => {
    const run = (input: unknown, context?: ExecutionContext) =>
      nacre.registry.execute('execute_command', input, context);
    const good = await run({ command: 'echo hi', timeout_ms: null, env: [{ name: 'A', value: 'b' }] });
    expect(good).toMatchObject({ success: true, metadata: { exit_code: 0, stdout: 'hi\n' } });
    expect(good).not.toHaveProperty('error');
    const bad = await run({ command: 5 });
    expect(bad).toMatchObject({ success: false, error: expect.stringContaining('command must be a string') });
  });
});

describe('toText', () => {
  it.each([
    [{ success: true, output: 'a\n' }, 'a\n'],
    [{ success: false, output: 'a\n', error: 'failed' }, 'a\nfailed'],
    [{ success: false, output: '', error: 'failed' }, 'failed'],
    [{ success: false, output: 'error: failed', error: 'failed' }, 'error: failed'],
  ])('%j reads %j', (result, expected) => {
    expect(toText({ ...result, metadata: {} })).toBe(expected);
  });
});
