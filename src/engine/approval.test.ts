import { expect, test } from 'vitest';
import { type Answer, approval, refused } from './approval.ts';

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

test('a denial says why and what to do, and carries the rule, the program and the place', () => {
  expect(refused(decision)).toMatchObject({
    code: 'policy_denied',
    message: 'rm is not allowed.',
    hint: 'Use another program.',
    details: { rule: 'not_listed', program: 'rm', node: decision.node, remedy: decision.remedy },
  });
});

test('what a person approves passes', async () => {
  const asked: unknown[] = [];
  const ask = async (question: unknown): Promise<Answer> => {
    asked.push(question);
    return 'approved';
  };
  await expect(approval(decision, ask)).resolves.toBeUndefined();
  expect(asked).toEqual([decision]);
});

test.each([
  ['no_answer', 'approval_required', 'Nobody answered in time', 'Use another program.'],
  ['declined', 'policy_denied', 'The user declined', 'Use another program.'],
  [undefined, 'approval_required', 'Nobody can be asked from here', 'Set confirm to never.'],
] as const)('an answer of %s is %s, and says so', async (answer, code, words, hint) => {
  const ask = answer === undefined ? undefined : async () => answer;
  await expect(approval(decision, ask)).rejects.toMatchObject({
    code,
    message: expect.stringMatching(new RegExp(`^rm is not allowed\\. ${words}.*Nothing was run\\.$`)),
    hint,
  });
});
