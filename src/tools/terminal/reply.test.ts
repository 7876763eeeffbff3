import { afterEach, beforeEach, expect, test } from 'vitest';
import { createTestEngine, type TestEngine } from '../../../tests/support/engine.ts';
import type { AllowedCommands } from '../common/tool.ts';
import { toReadQuery } from './read-options.ts';
import { readAfter } from './reply.ts';
import { writeInput } from './write-input.ts';

let here: TestEngine;
beforeEach(() => {
  here = createTestEngine();
});
afterEach(() => here.close());

const context = { caller: { door: 'functions', client: 'a test' }, owner: 'tester' } as const;
const defaults = { maxOutputChars: 1_000 };

test('T9: a failed read still returns the id and the state of the command', async () => {
  const id = await here.start(`echo ${'a'.repeat(40)}!; sleep 60`);
  const query = toReadQuery({ wait_ms: 20_000, wait_for: '(a+)+$' }, defaults, context);
  const commands = here.engine as unknown as AllowedCommands;
  expect(await readAfter(commands, id, query, context)).toMatchObject({
    isError: true,
    structured: {
      command_id: id,
      status: 'running',
      stdout: `${'a'.repeat(40)}!\n`,
      code: 'invalid_request',
    },
  });
});

test('T9: write_input reports when a command has not read all of its input', async () => {
  const command_id = await here.start('sleep 60');
  const tool = writeInput(here.engine as unknown as AllowedCommands, defaults);
  const input = { command_id, text: 'x'.repeat(1_000_000), wait_ms: 0 };
  expect((await tool.call(input, context)).structured).toMatchObject({ input_taken: false });
  const wrong = await tool.call({ ...input, wait_for: '(' }, context);
  expect(wrong.structured.error).toContain('wait_for must be a JavaScript RegExp');
});
