import { afterEach, beforeEach, expect, test } from 'vitest';
import { createTestEngine, type TestEngine } from '../../../tests/support/engine.ts';
import { answerRequest } from './answer-request.ts';

let here: TestEngine;
beforeEach(() => {
  here = createTestEngine();
});
afterEach(() => here.close());

const { signal } = new AbortController();
const ask = (request: unknown, line = JSON.stringify(request)) =>
  answerRequest(
    line,
    'the secret',
    {
      engine: async () => here.engine,
      createLink: () => undefined,
      status: () => Promise.reject(new Error('unused')),
      judge: () => Promise.reject(new Error('unused')),
    },
    signal,
  );
const call = (request: object) => ask({ ...request, secret: 'the secret' });

test('T9: another terminal lists, reads, types into and stops commands', async () => {
  const id = await here.start('cat', { name: 'cat' });
  expect(await call({ method: 'list' })).toMatchObject({ result: [{ id, name: 'cat' }] });
  const input = { text: 'typed\n', eof: false, secret: false };
  expect(await call({ method: 'write', id: 'cat', input })).toEqual({ result: { isTaken: true } });
  const query = { waitMs: 10_000, waitFor: 'typed', maxChars: 10, keep: 'beginning', view: 'clean' };
  expect(await call({ method: 'read', id, query })).toMatchObject({ result: { stdout: 'typed\n' } });
  expect(await call({ method: 'read', query })).toMatchObject({ error: { code: 'job_not_found' } });
  expect(await call({ method: 'stop', id })).toMatchObject({ result: { state: { status: 'killed' } } });
});

test('T9: a very long command is truncated in the list', async () => {
  await here.start(`: ${'x'.repeat(100_000)}; sleep 60`);
  expect(JSON.stringify(await call({ method: 'list' })).length).toBeLessThan(12_000);
  expect(await call({ method: 'end_all' })).toEqual({ result: null });
  expect(await call({ method: 'list' })).toMatchObject({ result: [{ state: { status: 'killed' } }] });
});

test.each([
  [{ method: 'list', secret: 'wrong' }, 'secret'],
  [{ method: 'list', secret: 7 }, 'secret'],
  [null, 'JSON object'],
  [{ method: 'nonsense', secret: 'the secret' }, 'nonsense'],
  [{ method: 'approvals', secret: 'the secret' }, 'approval'],
  [{ method: 'answer', id: 'x', answer: 'approved', secret: 'the secret' }, 'approval'],
])('E6: the reply to %j is an error', async (request, word) => {
  expect(await ask(request)).toMatchObject({
    error: { code: 'invalid_request', message: expect.stringContaining(word) },
  });
});

test('E6: a line that is not JSON, and an internal failure, are errors as well', async () => {
  expect(await ask(null, '{')).toMatchObject({ error: { code: 'invalid_request' } });
  expect(await call({ method: 'write', id: await here.start('cat') })).toMatchObject({
    error: { code: 'internal' },
  });
});
