import { expect, test } from 'vitest';
import { checkRules } from './check-rules.ts';

test('examples with the right result are not reported', () => {
  const examples = { matches: ['git push', 'env git push -f'], spares: ['git log push', 'echo git push'] };
  expect(
    checkRules([{ verdict: 'deny', program: 'git', args: ['push', '...'], reason: 'no', examples }]),
  ).toEqual([]);
  expect(
    checkRules([
      { verdict: 'ask', program: 'make', cwd: '/srv', reason: 'no', examples: { matches: ['make'] } },
    ]),
  ).toEqual([]);
  expect(checkRules([{ verdict: 'ask', program: 'make', reason: 'no' }])).toEqual([]);
});

test('a failed example names the rule and the command', () => {
  const examples = { matches: ['git log'], spares: ['git push x'] };
  const failed = checkRules([
    { verdict: 'deny', program: 'git', args: ['push', '...'], reason: 'no', examples },
  ]);
  expect(failed.map((one) => one.message)).toEqual([
    'The deny rule for git does not match its example: git log',
    'The deny rule for git matches its spared example: git push x',
  ]);
});
