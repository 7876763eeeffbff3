import { expect, test } from 'vitest';
import { NacreError } from '../../../contract/failure.ts';
import { HttpProblem, toFailure } from './problem.ts';

const fail = (error: unknown) => {
  const logged: string[] = [];
  return { ...toFailure(error, (message) => logged.push(message)), logged };
};

test('H2: every failure has a status and a sentence', () => {
  const refused = new NacreError('policy_denied', 'rm is not allowed.', { hint: 'Use another.' });
  expect(fail(refused)).toMatchObject({
    status: 403,
    body: { error: 'rm is not allowed.', hint: 'Use another.', reason: 'policy_denied' },
  });
  const busy = new HttpProblem(429, 'Too many.', { 'Retry-After': '1' });
  expect(fail(busy)).toMatchObject({
    status: 429,
    body: { error: 'Too many.' },
    headers: { 'Retry-After': '1' },
  });
});

test('an error for lack of descriptors is a 503, not an internal failure', () => {
  const error = Object.assign(new Error("EMFILE: too many open files, open '/a'"), { code: 'EMFILE' });
  expect(fail(error)).toMatchObject({ status: 503, body: { reason: 'resources_unavailable' }, logged: [] });
});

test.each([new Error('/secret/path'), new NacreError('internal', '/secret/path'), '/secret/path'])(
  'H10: an unexpected error is logged, and its text is not sent: %s',
  (error) => {
    const { status, body, logged } = fail(error);
    expect(status).toBe(500);
    expect(JSON.stringify(body)).not.toContain('secret');
    expect(logged.join()).toContain('/secret/path');
  },
);
