import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createNacre, type Nacre, type ToolResult } from '../../src/index.ts';
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

const dataOf = async (answer: Promise<ToolResult>) => (await answer).metadata;

describe('T9: commands that outlive their call, inside a program', () => {
  test('are started, written to, listed and stopped', async () => {
    const { startCommand, writeInput, readOutput, listCommands, stopCommand } = nacre.tools;
    const started = await dataOf(
      startCommand.run({ command: 'read -r x; echo "got $x"; sleep 60', name: 'one', wait_ms: 10_000 }),
    );
    expect(started).toMatchObject({ name: 'one', reason: 'awaiting_input', awaiting_input: true });
    expect(await dataOf(writeInput.run({ command_id: 'one', text: 'it\n', wait_for: 'got' }))).toMatchObject({
      stdout: 'got it\n',
      reason: 'matched',
    });
    expect(
      await dataOf(readOutput.run({ command_id: 'one', cursor: 0, view: 'tail', wait_ms: 0 })),
    ).toMatchObject({
      stdout: 'got it\n',
    });
    expect(await dataOf(listCommands.run({}))).toMatchObject({
      commands: [{ name: 'one', status: 'running' }],
    });
    expect(await dataOf(stopCommand.run({ command_id: 'one', signal: 'TERM' }))).toMatchObject({
      status: 'killed',
    });
    expect(await dataOf(listCommands.run({ status: 'running' }))).toEqual({ commands: [] });
    expect(await dataOf(readOutput.run({ command_id: 'two' }))).toMatchObject({ code: 'job_not_found' });
  });

  test('T1: continue a call that timed out, or end within it', async () => {
    const { executeCommand, readOutput } = nacre.tools;
    const slow = { command: 'echo a; sleep 0.6; echo b', timeout_ms: 200, on_timeout: 'background' } as const;
    const detached = await dataOf(executeCommand.run(slow));
    expect(detached).toMatchObject({ exit_code: null, stdout: 'a\n', status: 'running' });
    const rest = { command_id: String(detached.command_id), wait_ms: 20_000 };
    expect(await dataOf(readOutput.run(rest))).toMatchObject({ stdout: 'b\n', exit_code: 0 });
    const quick = { command: 'cat', input: 'x', on_timeout: 'background' } as const;
    expect(await dataOf(executeCommand.run(quick))).toMatchObject({ exit_code: 0, stdout: 'x', stderr: '' });
  });

  test('return the screen of their terminal, and both ends of long output', async () => {
    const { startCommand, writeInput } = nacre.tools;
    const shell = {
      command: 'exec bash --norc',
      env: { PS1: '> ' },
      pty: true,
      cols: 40,
      rows: 5,
      wait_ms: 10_000,
    };
    const { command_id } = await dataOf(startCommand.run(shell));
    const typed = { command_id: String(command_id), text: 'echo $((6*7))', keys: ['enter'], wait_for: '^42' };
    expect(await dataOf(writeInput.run({ ...typed, view: 'screen' }))).toMatchObject({
      screen: expect.stringContaining('42\n'),
      screen_cursor: { row: expect.any(Number), col: expect.any(Number) },
    });
    const much = await dataOf(startCommand.run({ command: 'seq 1 20000', wait_ms: 20_000 }));
    expect(much.left_out_from).toEqual(expect.any(Number));
  });
});
