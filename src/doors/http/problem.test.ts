import { expect, test } from 'vitest';
import { NacreError } from '../../contract/failure.ts';
import { HttpProblem, toAnswer } from './problem.ts';

const answer = async (error: unknown) => {
  const said: string[] = [];
  const reply = toAnswer(error, (message) => said.push(message));
  return { status: reply.status, body: await reply.json(), said, retry: reply.headers.get('retry-after') };
};

test('H2: every failure has a status and a sentence', async () => {
  const refused = new NacreError('policy_denied', 'rm is not allowed.', { hint: 'Use another.' });
  expect(await answer(refused)).toMatchObject({
    status: 403,
    body: { error: 'rm is not allowed.', hint: 'Use another.', reason: 'policy_denied' },
  });
  const busy = new HttpProblem(429, 'Too many.', { 'Retry-After': '1' });
  expect(await answer(busy)).toMatchObject({ status: 429, body: { error: 'Too many.' }, retry: '1' });
});

test.each([new Error('/secret/path'), new NacreError('internal', '/secret/path'), '/secret/path'])(
  'H10: what we do not know ourselves is told to the log alone: %s',
  async (error) => {
    const { status, body, said } = await answer(error);
    expect(status).toBe(500);
    expect(JSON.stringify(body)).not.toContain('secret');
    expect(said.join()).toContain('/secret/path');
  },
);
