import { describe, expect, it } from 'vitest';
import { toAllowList } from './settings.ts';

describe('P12: the allow list of a tool family', () => {
  it('is the list that is set, regardless of the family’s default', () => {
    for (const whenUnset of ['nothing', 'everything'] as const) {
      expect(toAllowList(['git'], undefined, whenUnset)).toEqual({ kind: 'names', names: ['git'] });
      expect(toAllowList(['git', '*'], undefined, whenUnset)).toEqual({ kind: 'all' });
    }
  });

  it('T5: an empty list allows nothing in every family', () => {
    for (const whenUnset of ['nothing', 'everything'] as const) {
      expect(toAllowList([], undefined, whenUnset)).toEqual({ kind: 'none' });
    }
  });

  it('while unset allows nothing in the terminal tools and everything in the others', () => {
    expect(toAllowList(undefined, undefined, 'nothing')).toEqual({ kind: 'none' });
    expect(toAllowList(undefined, undefined, 'everything')).toEqual({ kind: 'all' });
  });

  it('E8: a project limit narrows a list but never allows anything by itself', () => {
    expect(toAllowList(undefined, ['git'], 'everything')).toEqual({ kind: 'names', names: ['git'] });
    expect(toAllowList(undefined, ['git'], 'nothing')).toEqual({ kind: 'none' });
    expect(toAllowList(['ls'], ['git'], 'everything')).toEqual({ kind: 'none' });
  });
});
