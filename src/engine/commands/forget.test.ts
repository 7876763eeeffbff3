import { afterEach, beforeEach, expect, test } from 'vitest';
import { createTestEngine, type TestEngine } from '../../../tests/support/engine.ts';
import type { CallerContext } from '../context/call-context.ts';

let here: TestEngine;
beforeEach(() => {
  here = createTestEngine();
});
afterEach(() => here.close());

const me: CallerContext = { caller: { door: 'functions', client: 'test' }, owner: 'tester' };
const kill = { signal: 'SIGKILL', graceMs: 0 } as const;

test('B13: only the owner can forget a command, and only after it has ended', async () => {
  const id = await here.start('sleep 1000');
  await expect(here.engine.forget(id, me)).rejects.toThrow(`${id} is still running.`);
  await here.engine.stop(id, kill, me);
  await expect(here.engine.forget(id, { ...me, owner: 'other' })).rejects.toMatchObject({
    code: 'job_not_found',
  });
  await here.engine.forget(id, me);
  expect(await here.engine.list(me)).toEqual([]);
  await expect(here.engine.forget(id, me)).rejects.toMatchObject({ code: 'job_not_found' });
});

test('B3: the id of a shell begins with shell_', async () => {
  const request = { command: { kind: 'shell', script: 'true' }, timeoutMs: null, stdin: 'empty' } as const;
  const rules = { allow: { kind: 'all' }, allowSetting: 'LIST', danger: 'block' } as const;
  const context = { caller: me.caller, owner: me.owner, rules, cwdRoots: [] };
  expect((await here.engine.start({ ...request, idPrefix: 'shell' }, context)).id).toMatch(/^shell_\w+$/);
  expect((await here.engine.start(request, context)).id).toMatch(/^cmd_\w+$/);
});
