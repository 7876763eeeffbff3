import { expect, test } from 'vitest';
import type { ApprovalRequest } from './approval.ts';
import { createApprovalInbox, type InboxDeps } from './approval-inbox.ts';

const toRequest = (script: string, more: Partial<ApprovalRequest> = {}): ApprovalRequest => ({
  decision: { verdict: 'ask', rule: 'policy', reason: 'With care.', programs: [] },
  asked: { command: { kind: 'shell', script }, cwd: '/', env: {}, input: null, into: null, sandbox: null },
  id: 'cmd_1',
  caller: { door: 'mcp', client: 'tester' },
  owner: 'me',
  signal: undefined,
  ...more,
});

function createInbox(deps: Partial<InboxDeps> = {}) {
  const recorded: unknown[] = [];
  const inbox = createApprovalInbox({
    deadlineMs: 60_000,
    open: async () => {},
    whyOff: async () => null,
    record: ({ id }, answer, { by, note }) =>
      recorded.push([id, answer, by, ...(note === undefined ? [] : [note])]),
    ...deps,
  });
  const store = async (request: ApprovalRequest) => {
    const answer = await inbox.ask(request);
    return answer.kind === 'waits' ? answer.approvalId : `not stored: ${answer.kind}`;
  };
  return { ...inbox, store, recorded };
}

test('an approval lets the same call pass once and is recorded', async () => {
  const inbox = createInbox();
  const id = await inbox.store(toRequest('touch x'));
  expect((await inbox.list()).waiting).toMatchObject([{ id, reason: 'With care.', secondsLeft: 60 }]);
  expect(inbox.answer(id, 'approved', { by: 'ann' })).toMatchObject({ id });
  expect(inbox.recorded).toEqual([['cmd_1', 'approved', 'ann']]);
  expect((await inbox.list()).waiting).toEqual([]);
  expect(() => inbox.answer(id, 'declined', { by: 'ann' })).toThrow(/approved already/);
  expect(await inbox.ask(toRequest('touch x'))).toEqual({ kind: 'approved', by: 'ann' });
  expect(await inbox.ask(toRequest('touch x'))).toMatchObject({ kind: 'waits' });
});

const plain = toRequest('touch x');
test.each([
  ['another command', toRequest('touch y')],
  [
    'a program without a shell',
    { ...plain, asked: { ...plain.asked, command: { kind: 'argv', argv: ['touch x'] } } },
  ],
  ['another directory', { ...plain, asked: { ...plain.asked, cwd: '/etc' } }],
  ['other variables', { ...plain, asked: { ...plain.asked, env: { A: '1' } } }],
  ['another stdin', { ...plain, asked: { ...plain.asked, input: 'x' } }],
  ['another shell', { ...plain, asked: { ...plain.asked, into: 'main' } }],
  ['another owner', { ...plain, owner: 'you' }],
  ['another client', { ...plain, caller: { door: 'mcp', client: 'other' } }],
] satisfies [string, ApprovalRequest][])('an approval is not valid for %s', async (_what, other) => {
  const inbox = createInbox();
  inbox.answer(await inbox.store(plain), 'approved', { by: 'ann' });
  expect(await inbox.ask(other)).toMatchObject({ kind: 'waits' });
});

test('a denial is valid for every further call', async () => {
  const inbox = createInbox();
  inbox.answer(await inbox.store(plain), 'declined', { by: 'ann' });
  expect(await inbox.ask(plain)).toMatchObject({ kind: 'declined' });
  expect(await inbox.ask(plain)).toMatchObject({ kind: 'declined' });
});

test('one approval lets one of two waiting calls pass', async () => {
  const inbox = createInbox();
  const id = await inbox.store(plain);
  const calls = Promise.all([inbox.ask(plain), inbox.ask(plain)]);
  await Promise.resolve();
  inbox.answer(id, 'approved', { by: 'ann' });
  expect((await calls).map(({ kind }) => kind).sort()).toEqual(['approved', 'no_answer']);
});

test('a request names the calls that wait for it, and its answer is recorded for one of them', async () => {
  const inbox = createInbox();
  const id = await inbox.store(plain);
  expect((await inbox.list()).waiting).toMatchObject([{ id, command: 'cmd_1', calls: [] }]);
  const again = inbox.ask({ ...plain, id: 'cmd_2' });
  await Promise.resolve();
  expect((await inbox.list()).waiting).toMatchObject([{ id, command: 'cmd_1', calls: ['cmd_2'] }]);
  inbox.answer(id, 'approved', { by: 'ann' });
  expect(await again).toMatchObject({ kind: 'approved' });
  expect(inbox.recorded).toEqual([['cmd_2', 'approved', 'ann']]);
});

test('a cancelled call stops waiting', async () => {
  const inbox = createInbox();
  const id = await inbox.store(plain);
  const cancel = new AbortController();
  const call = inbox.ask({ ...plain, signal: cancel.signal });
  cancel.abort();
  expect(await call).toMatchObject({ kind: 'waits', approvalId: id });
});

test('a request is gone after its deadline', async () => {
  const inbox = createInbox({ deadlineMs: 50 });
  const id = await inbox.store(plain);
  expect(await inbox.ask(plain)).toEqual({ kind: 'no_answer' });
  expect(() => inbox.answer(id, 'approved', { by: 'ann' })).toThrow(/no approval request/);
  expect(inbox.recorded).toEqual([]);
});

test('an answer that cannot be recorded has no effect', async () => {
  const inbox = createInbox({
    record() {
      throw new Error('full');
    },
  });
  const id = await inbox.store(plain);
  expect(() => inbox.answer(id, 'approved', { by: 'ann' })).toThrow('full');
  expect((await inbox.list()).waiting).toMatchObject([{ id }]);
});

test('E3: requests beyond a total size are not stored', async () => {
  const inbox = createInbox();
  const long = (name: string) => toRequest(`touch ${name} # ${'x'.repeat(1_000_000)}`);
  for (const name of ['a', 'b', 'c', 'd']) await inbox.store(long(name));
  expect(await inbox.ask(long('e'))).toMatchObject({ kind: 'cannot_ask' });
  expect((await inbox.list()).waiting).toHaveLength(4);
});

test('no request is stored if commands could answer it, if the socket cannot be opened, or beyond a number', async () => {
  const off = createInbox({ whyOff: async () => 'It is off.' });
  expect(await off.ask(plain)).toEqual({ kind: 'cannot_ask', why: 'It is off.' });
  expect(await off.list()).toEqual({ off: 'It is off.', waiting: [] });
  const unreachable = createInbox({ open: () => Promise.reject(new Error('no room')) });
  expect(await unreachable.ask(plain)).toMatchObject({
    kind: 'cannot_ask',
    why: expect.stringContaining('no room'),
  });
  const full = createInbox();
  for (let count = 0; count < 100; count += 1) await full.store(toRequest(`touch ${count}`));
  expect(await full.ask(plain)).toMatchObject({
    kind: 'cannot_ask',
    why: expect.stringContaining('Too many'),
  });
});
