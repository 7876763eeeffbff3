import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createTestEngine, type TestEngine } from '../../../tests/support/engine.ts';
import type { CallerContext } from '../context/call-context.ts';
import type { WriteRequest } from './write-command.ts';

let here: TestEngine;
beforeEach(() => {
  here = createTestEngine();
});
afterEach(() => here.close());

const me: CallerContext = { caller: { door: 'cli', client: 'test' }, owner: 'tester' };
const type = (id: string, input: Partial<WriteRequest>) =>
  here.engine.write(id, { text: '', eof: false, secret: false, ...input }, me);
const output = async (id: string, waitFor: string) =>
  (
    await here.engine.read(
      id,
      { waitMs: 20_000, waitFor, maxChars: 1_000, keep: 'end', view: 'clean', howToReadOn: () => '' },
      me,
    )
  ).stdout;

describe('T9: a command that does not read', () => {
  const much = 'x'.repeat(1_000_000);

  test('does not block its callers, and gets all input in order once it reads', async () => {
    const id = await here.start(
      'trap "head -c 1000005 | tail -c 10; exit" INT; echo up; while :; do sleep 0.05; done',
    );
    await output(id, 'up');
    expect(await type(id, { text: much })).toEqual({ isTaken: false });
    expect(await type(id, { text: 'and more', eof: true })).toEqual({ isTaken: false });
    expect(await type(id, { keys: ['ctrl-c'] })).toEqual({ isTaken: true });
    expect(await output(id, 'and')).toBe('up\nxxxxxand m');
  });

  test('E3: makes the server buffer a limited amount of input', async () => {
    const id = await here.start('sleep 60');
    const large = 'x'.repeat(10_000_000);
    expect(await type(id, { text: large })).toEqual({ isTaken: false });
    await expect(type(id, { text: large })).rejects.toMatchObject({
      code: 'resources_unavailable',
      hint: expect.stringContaining('ctrl-c'),
    });
  });

  test('accepts no further input if input has to be judged first', async () => {
    const id = await here.start('bash');
    await type(id, { text: 'echo up; while :; do sleep 0.05; done\n' });
    await output(id, 'up');
    expect(await type(id, { text: `: ${much}\n` })).toEqual({ isTaken: false });
    await expect(type(id, { text: 'echo late\n' })).rejects.toMatchObject({ code: 'resources_unavailable' });
  });

  test('can be stopped although it has unread input', async () => {
    const id = await here.start('sleep 60');
    expect(await type(id, { text: much, eof: true })).toEqual({ isTaken: false });
    const { state } = await here.engine.stop(id, { signal: 'SIGKILL', graceMs: 0 }, me);
    expect(state.end).not.toBeNull();
    await expect(type(id, { text: 'x' })).rejects.toMatchObject({ code: 'invalid_request' });
  });
});

test('T9: writing after EOF is an error', async () => {
  const id = await here.start('cat; echo ended; sleep 60');
  expect(await type(id, { text: 'all', eof: true })).toEqual({ isTaken: true });
  await output(id, 'ended');
  await expect(type(id, { text: 'more' })).rejects.toMatchObject({
    message: expect.stringContaining(`${id} accepts no input: it has ended`),
    hint: expect.stringContaining('Start it again'),
  });
});

test('T9: a command with empty stdin can be interrupted', async () => {
  const id = await here.start('trap "echo caught; exit" INT; echo up; while :; do sleep 0.05; done', {
    stdin: 'empty',
  });
  await output(id, 'up');
  await type(id, { keys: ['ctrl-c'] });
  expect(await output(id, 'caught')).toBe('up\ncaught\n');
});
