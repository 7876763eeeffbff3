import { afterEach, beforeEach, expect, test } from 'vitest';
import { createTestEngine, type TestEngine } from '../../../tests/support/engine.ts';
import { answerLine } from './answer-line.ts';

let here: TestEngine;
beforeEach(() => {
  here = createTestEngine();
});
afterEach(() => here.close());

const { signal } = new AbortController();
const ask = (request: unknown, line = JSON.stringify(request)) =>
  answerLine(line, 'the secret', async () => here.engine, signal);
const call = (request: object) => ask({ ...request, secret: 'the secret' });

test('T9: another terminal lists, reads, types into and stops commands', async () => {
  const id = await here.start('cat', { name: 'cat' });
  expect(await call({ method: 'list' })).toMatchObject({ result: [{ id, name: 'cat' }] });
  const input = { text: 'typed\n', eof: false, secret: false };
  expect(await call({ method: 'write', id: 'cat', input })).toEqual({ result: { isTaken: true } });
  const query = { waitMs: 10_000, waitFor: 'typed', maxChars: 10, keep: 'beginning', view: 'clean' };
  expect(await call({ method: 'read', id, query })).toMatchObject({ result: { stdout: 'typed\n' } });
  expect(await call({ method: 'stop', id })).toMatchObject({ result: { state: { status: 'killed' } } });
});

test('T9: a command that is too long for a list is cut there', async () => {
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
])('E6: %j is answered by an error', async (request, word) => {
  expect(await ask(request)).toMatchObject({
    error: { code: 'invalid_request', message: expect.stringContaining(word) },
  });
});

test('E6: a line that is no JSON, and what is wrong with ourselves, are errors too', async () => {
  expect(await ask(null, '{')).toMatchObject({ error: { code: 'invalid_request' } });
  expect(await call({ method: 'write', id: await here.start('cat') })).toMatchObject({
    error: { code: 'internal' },
  });
});
