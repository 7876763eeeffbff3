import { expect, test } from 'vitest';
import { type ApprovalAnswer, type ApprovalRequest, approval, deniedError } from './approval.ts';

const decision = {
  verdict: 'deny',
  rule: 'not_listed',
  reason: 'rm is not allowed.',
  hint: 'Use another program.',
  remedy: 'Set confirm to never.',
  program: 'rm',
  node: { pos: 0, end: 2, text: 'rm' },
  programs: [],
} as const;
const request: ApprovalRequest = {
  decision,
  asked: {
    command: { kind: 'shell', script: 'rm x' },
    cwd: '/',
    env: {},
    input: null,
    into: null,
    sandbox: null,
  },
  id: 'cmd_1',
  caller: { door: 'mcp', client: 'tester' },
  owner: 'me',
  signal: undefined,
};

test('a denial has the reason, a hint, the rule, the program and its position', () => {
  expect(deniedError(decision)).toMatchObject({
    code: 'policy_denied',
    message: 'rm is not allowed.',
    hint: 'Use another program.',
    details: { rule: 'not_listed', program: 'rm', node: decision.node, remedy: decision.remedy },
  });
});

test('an approved request passes', async () => {
  const asked: unknown[] = [];
  const ask = async (one: unknown): Promise<ApprovalAnswer> => {
    asked.push(one);
    return { kind: 'approved', by: 'me' };
  };
  expect(await approval(request, ask)).toEqual({ kind: 'approved', by: 'me' });
  expect(asked).toEqual([request]);
});

test.each([
  [{ kind: 'no_answer' }, 'approval_required', 'The user did not answer in time', 'Use another program.'],
  [{ kind: 'declined' }, 'policy_denied', 'The user declined', 'Use another program.'],
  [undefined, 'approval_required', 'The user cannot be prompted here', 'Set confirm to never.'],
  [{ kind: 'cannot_ask', why: 'It is off.' }, 'approval_required', 'It is off\\.', 'Set confirm to never.'],
  [
    { kind: 'waits', approvalId: 'apr_1', secondsLeft: 9 },
    'approval_required',
    'It waits for .* as apr_1\\.',
    expect.stringMatching(/nacre approvals approve apr_1.* 9 s.*same call again/),
  ],
] as const)('the answer %j is the error %s', async (answer, code, message, hint) => {
  const ask = answer === undefined ? undefined : async () => answer;
  await expect(approval(request, ask)).rejects.toMatchObject({
    code,
    message: expect.stringMatching(new RegExp(`^rm is not allowed\\. ${message}.*Nothing was run\\.$`)),
    hint,
  });
});
