import { describe, expect, it } from 'vitest';
import { toAllowList } from './settings.ts';

describe('P12: the list that a tool family goes by', () => {
  it('is the one that is set, whatever the family does without', () => {
    for (const whenUnset of ['nothing', 'everything'] as const) {
      expect(toAllowList(['git'], undefined, whenUnset)).toEqual({ kind: 'names', names: ['git'] });
      expect(toAllowList(['git', '*'], undefined, whenUnset)).toEqual({ kind: 'all' });
    }
  });

  it('T5: an empty list allows nothing, for every family', () => {
    for (const whenUnset of ['nothing', 'everything'] as const) {
      expect(toAllowList([], undefined, whenUnset)).toEqual({ kind: 'none' });
    }
  });

  it('while unset is nothing for the terminal tools and everything for the others', () => {
    expect(toAllowList(undefined, undefined, 'nothing')).toEqual({ kind: 'none' });
    expect(toAllowList(undefined, undefined, 'everything')).toEqual({ kind: 'all' });
  });

  it('E8: a project limit narrows everything, but never allows what nobody has allowed', () => {
    expect(toAllowList(undefined, ['git'], 'everything')).toEqual({ kind: 'names', names: ['git'] });
    expect(toAllowList(undefined, ['git'], 'nothing')).toEqual({ kind: 'none' });
    expect(toAllowList(['ls'], ['git'], 'everything')).toEqual({ kind: 'none' });
  });
});
