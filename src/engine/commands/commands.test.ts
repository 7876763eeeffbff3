import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createTestEngine, type TestEngine } from '../../../tests/support/engine.ts';
import type { Backend } from '../../contract/backend.ts';
import type { CallerContext } from '../context/call-context.ts';
import type { ReadQuery } from '../reading/read-command.ts';

let here: TestEngine;
beforeEach(() => {
  here = createTestEngine();
});
afterEach(() => here.close());

const me: CallerContext = { caller: { door: 'cli', client: 'test' }, owner: 'tester' };
const other: CallerContext = { ...me, owner: 'other' };
const usual: ReadQuery = {
  waitMs: 0,
  maxChars: 30_000,
  keep: 'ends',
  view: 'clean',
  howToReadOn: (cursor) => `Read on from ${cursor}.`,
};
const read = (id: string, query: Partial<ReadQuery> = {}, context = me) =>
  here.engine.read(id, { ...usual, ...query }, context);
const toEnd = (id: string, query: Partial<ReadQuery> = {}) => read(id, { waitMs: 20_000, ...query });
const write = (id: string, text: string, { eof = false, secret = false } = {}) =>
  here.engine.write(id, { text, eof, secret }, me);
const kinds = () => here.records().map(({ kind }) => kind);

describe('T9: a background command', () => {
  test('is read and typed into while it runs, and reports how it ended', async () => {
    const id = await here.start('read -r name; echo "hello $name"; echo oops >&2; exit 3');
    expect(await read(id)).toMatchObject({ stdout: '', state: { status: 'running' }, wakeReason: 'waited' });
    await write(id, 'world\n');
    expect(await toEnd(id)).toMatchObject({
      stdout: 'hello world\n',
      stderr: 'oops\n',
      wakeReason: 'ended',
      state: { status: 'failed', end: { exitCode: 3 } },
      unreadBytes: 0,
    });
    expect(await read(id)).toMatchObject({ stdout: '', wakeReason: 'ended', from: 17, next: 17 });
    expect(await read(id, { cursor: 0 })).toMatchObject({ stdout: 'hello world\n', stderr: 'oops\n' });
  });

  test('S6: has its end recorded without a further call, and its input unless it is secret', async () => {
    const id = await here.start('cat');
    await write(id, 'open sesame\n');
    await write(id, 'hunter2\n', { secret: true, eof: true });
    expect(await toEnd(id)).toMatchObject({ stdout: 'open sesame\n*******\n' });
    await expect.poll(kinds).toEqual(['asked', 'decided', 'started', 'input', 'input', 'finished']);
    const records = here.records();
    expect(records[3]).toMatchObject({ id, text: 'open sesame\n', eof: false });
    expect(records[4]).toMatchObject({ chars: 8, eof: true });
    expect(JSON.stringify(records)).not.toContain('hunter2');
    expect(records[5]).toMatchObject({ id, exit_code: 0, stdout_bytes: 20 });
  });

  test('belongs to its owner and is "not found" for everyone else', async () => {
    const id = await here.start('sleep 30', { name: 'mine' });
    const unknown = { code: 'job_not_found', message: `There is no command ${id}.` };
    await expect(read(id, {}, other)).rejects.toMatchObject(unknown);
    await expect(here.engine.stop(id, { signal: 'SIGKILL', graceMs: 0 }, other)).rejects.toMatchObject(
      unknown,
    );
    await expect(
      here.engine.write(id, { text: 'x', eof: false, secret: false }, other),
    ).rejects.toMatchObject(unknown);
    await expect(read('mine', {}, other)).rejects.toMatchObject({ code: 'job_not_found' });
    expect(await here.engine.list(other)).toEqual([]);
    expect(await here.engine.list(me)).toMatchObject([{ id, name: 'mine', state: { status: 'running' } }]);
  });

  test('is found by its name, which can be used again once it has ended', async () => {
    const first = await here.start('echo one; sleep 30', { name: 'server' });
    await expect(here.start('true', { name: 'server' })).rejects.toMatchObject({
      code: 'invalid_request',
      message: expect.stringContaining(first),
    });
    expect(await read('server', { waitMs: 20_000, waitFor: 'one' })).toMatchObject({
      id: first,
      wakeReason: 'matched',
    });
    const stopped = await here.engine.stop('server', { signal: 'SIGTERM', graceMs: 2_000 }, me);
    expect(stopped).toMatchObject({ id: first, state: { status: 'killed', end: { cause: 'stopped' } } });
    const second = await here.start('echo two', { name: 'server' });
    expect(await toEnd('server')).toMatchObject({ id: second, stdout: 'two\n' });
    expect(await read(first, { cursor: 0 })).toMatchObject({ stdout: 'one\n' });
  });

  test('frees its name as soon as its end is reported, before the worker has settled it', async () => {
    let settle = () => {};
    const settled = new Promise<void>((resolve) => {
      settle = resolve;
    });
    const wrap = (backend: Backend): Backend => ({
      ...backend,
      wait: async (id, waitMs) => ({ ...(await backend.wait(id, waitMs)), outlives: true }),
      settle: () => settled,
    });
    const kept = createTestEngine({ wrap });
    try {
      const first = await kept.start('echo one', { name: 'server' });
      const query = { ...usual, waitMs: 20_000 };
      expect(await kept.engine.read(first, query, me)).toMatchObject({ wakeReason: 'ended' });
      const second = await kept.start('echo two', { name: 'server' });
      expect(await kept.engine.read('server', query, me)).toMatchObject({ id: second, stdout: 'two\n' });
    } finally {
      settle();
      await kept.close();
    }
  });

  test('has a read position for each reader', async () => {
    const id = await here.start('echo a');
    expect(await toEnd(id)).toMatchObject({ stdout: 'a\n' });
    const second = { ...me, reader: 'second' };
    expect(await read(id, {}, second)).toMatchObject({ stdout: 'a\n' });
    expect(await read(id, {}, second)).toMatchObject({ stdout: '' });
  });

  test('E2: is stopped when the engine closes, and its end is recorded', async () => {
    const id = await here.start('trap "" TERM; sleep 300 & wait');
    await here.engine.close();
    expect(here.records().at(-1)).toMatchObject({ kind: 'finished', id, cause: 'stopped' });
    await expect(here.start('true')).rejects.toMatchObject({ code: 'shutting_down' });
  });

  test('counts towards max_running, and the policy applies to it', async () => {
    await here.close();
    here = createTestEngine({ maxRunning: 1 });
    await here.start('sleep 30');
    await expect(here.start('sleep 30')).rejects.toMatchObject({ code: 'resources_unavailable' });
    const rules = { allow: { kind: 'names', names: ['ls'] }, allowSetting: 'X', danger: 'block' } as const;
    await expect(here.start('touch x', {}, { rules })).rejects.toMatchObject({ code: 'policy_denied' });
    expect(kinds().slice(-3)).toEqual(['asked', 'decided', 'refused']);
  });

  test('has a timeout only if the request has one', async () => {
    const id = await here.start('echo began; sleep 60', { timeoutMs: 300 });
    expect(await toEnd(id)).toMatchObject({ stdout: 'began\n', state: { status: 'timeout' } });
  });
});

describe('T9: waiting', () => {
  test('ends when a pattern matches new output, of both streams or of the requested one', async () => {
    const id = await here.start('echo starting; sleep 0.2; echo "ready on port 8080" >&2; sleep 60');
    expect(await toEnd(id, { waitFor: 'port \\d+$' })).toMatchObject({
      wakeReason: 'matched',
      stdout: 'starting\n',
      stderr: 'ready on port 8080\n',
    });
    const again = await read(id, { cursor: 0, waitFor: 'ready', stream: 'stdout', waitMs: 300 });
    expect(again).toMatchObject({ wakeReason: 'waited', stdout: 'starting\n', stderr: '' });
  });

  test('finds a pattern in an unfinished line, such as a prompt', async () => {
    const id = await here.start('printf "Continue? [y/N] "; read -r answer; echo "got $answer"');
    expect(await toEnd(id, { waitFor: '\\? \\[y/N\\] $' })).toMatchObject({ stdout: 'Continue? [y/N] ' });
    await write(id, 'y\n');
    expect(await toEnd(id)).toMatchObject({ stdout: 'got y\n' });
  });

  test('ends when there was no output for idleMs', async () => {
    const id = await here.start('for i in 1 2 3; do echo $i; sleep 0.1; done; sleep 60');
    expect(await toEnd(id, { idleMs: 900 })).toMatchObject({ wakeReason: 'idle', stdout: '1\n2\n3\n' });
  });

  test('ends in time although the command never stops printing', async () => {
    const id = await here.start('yes');
    expect(await read(id, { waitFor: 'never', waitMs: 200 })).toMatchObject({ wakeReason: 'waited' });
    await here.engine.stop(id, { signal: 'SIGKILL', graceMs: 0 }, me);
  });

  test('ends when the call is cancelled, and the output stays unread', async () => {
    const id = await here.start('echo said; sleep 60');
    const cancelled = { ...me, signal: AbortSignal.abort() };
    for (const query of [{ waitFor: 'never' }, { idleMs: 40_000 }, {}]) {
      await expect(read(id, { waitMs: 50_000, ...query }, cancelled)).rejects.toMatchObject({
        code: 'cancelled',
      });
    }
    expect(await toEnd(id, { waitFor: 'said' })).toMatchObject({ stdout: 'said\n' });
  });
});

describe('T9: one stream', () => {
  test('is read without marking the other as read, and is not read again with it', async () => {
    const id = await here.start('echo out; echo err >&2; echo more >&2; read -r x; echo "got $x" >&2');
    const untilMore = { waitFor: 'more', stream: 'stderr' } as const;
    expect(await toEnd(id, untilMore)).toMatchObject({ stdout: '', stderr: 'err\nmore\n' });
    expect(await read(id, { stream: 'stderr', waitMs: 0 })).toMatchObject({ stderr: '' });
    expect(await read(id, { waitMs: 0 })).toMatchObject({ stdout: 'out\n', stderr: '' });
    await write(id, 'it\n');
    expect(await toEnd(id, { stream: 'stderr' })).toMatchObject({ stdout: '', stderr: 'got it\n' });
  });
});

describe('B11: patterns', () => {
  test('that are invalid or too slow are errors, and the output stays unread', async () => {
    const id = await here.start(`echo ${'a'.repeat(40)}b`);
    await toEnd(id, { cursor: 0, maxChars: 1, keep: 'beginning', stream: 'stderr' });
    const before = (await read(id, { cursor: 0, filter: 'nothing' })).next;
    expect(before).toBe(42);
    for (const field of ['filter', 'waitFor'] as const) {
      await expect(read(id, { [field]: '(' })).rejects.toMatchObject({
        code: 'invalid_request',
        message: expect.stringContaining('not a valid regular expression'),
      });
      await expect(read(id, { cursor: 0, [field]: '(a+)+$' })).rejects.toMatchObject({
        message: expect.stringContaining('longer than a second'),
      });
    }
    expect(await read(id, { cursor: 0, filter: 'a+b' })).toMatchObject({ stdout: `${'a'.repeat(40)}b\n` });
  });

  test('omit lines, which count as read; an unfinished line is not tested', async () => {
    const id = await here.start('printf "keep 1\\ndrop\\nkeep"; read -r; printf " 2\\ndrop\\n"; exit');
    const filter = '^keep';
    await toEnd(id, { cursor: 0, waitFor: 'keep$' });
    const second = { ...me, reader: 'second' };
    expect(await read(id, { filter }, second)).toMatchObject({ stdout: 'keep 1\n', next: 12 });
    await write(id, '\n');
    expect(await here.engine.read(id, { ...usual, waitMs: 20_000, filter }, second)).toMatchObject({
      stdout: 'keep 2\n',
      wakeReason: 'ended',
      unreadBytes: 0,
    });
  });
});
