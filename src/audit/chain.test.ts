import { expect, test } from 'vitest';
import { ChainHead, digestOf, genesis } from './chain.ts';

test('an empty chain starts with record 0 and the genesis digest', () => {
  const head = ChainHead.empty();
  expect([head.sequence, head.digest()]).toEqual([0, genesis]);
});

test('a head names the digest of the last line and leaves the earlier head unchanged', () => {
  const empty = ChainHead.empty();
  const head = empty.after('one\n').after('two\n');
  expect([head.sequence, head.digest(), head.digest()]).toEqual([2, digestOf('two\n'), digestOf('two\n')]);
  expect(empty.sequence).toBe(0);
});
