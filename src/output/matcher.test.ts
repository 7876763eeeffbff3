import { once } from 'node:events';
import type { Worker } from 'node:worker_threads';
import { afterEach, expect, test } from 'vitest';
import { checkPattern, createMatcher, type Matcher } from './matcher.ts';

let matcher: Matcher;
afterEach(() => matcher.close());

test('B11: a pattern is tested against each text, with ^ and $ at line ends', async () => {
  matcher = createMatcher();
  expect(await matcher.test('^b$', ['a\nb', 'ab', 'b'])).toEqual([true, false, true]);
});

test('B11: a pattern that takes too long is stopped, and the next one works', async () => {
  matcher = createMatcher({ limitMs: 100 });
  const slow = matcher.test('(a+)+$', [`${'a'.repeat(40)}b`]);
  const next = matcher.test('a', ['a']);
  await expect(slow).rejects.toMatchObject({
    code: 'invalid_request',
    message: expect.stringContaining('(a+)+$'),
  });
  expect(await next).toEqual([true]);
});

test('B11: an invalid pattern is an error that names the field', () => {
  matcher = createMatcher();
  expect(() => checkPattern('filter', '(')).toThrow(/^filter is not a valid regular expression: /);
  expect(() => checkPattern('filter', undefined)).not.toThrow();
});

test('B11: a pattern that ends the thread is an error, and the next one works', async () => {
  matcher = createMatcher();
  await expect(matcher.test('(', ['a'])).rejects.toMatchObject({
    code: 'resources_unavailable',
  });
  expect(await matcher.test('a', ['a'])).toEqual([true]);
});

test('B11: a thread that has ended between two tests is replaced', async () => {
  matcher = createMatcher();
  const started = once(process, 'worker');
  expect(await matcher.test('a', ['a'])).toEqual([true]);
  const [thread] = (await started) as [Worker];
  await thread.terminate();
  expect(await matcher.test('a', ['a', 'b'])).toEqual([true, false]);
});
