import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { inspectSetting } from './define.ts';
import { type ProjectRule, s } from './schema.ts';
import { narrowList, tighten } from './tighten.ts';

const words = { description: 'Something.', everything: '*' };
const list = (project: ProjectRule) =>
  inspectSetting(
    'names',
    s
      .list(s.text())
      .optional()
      .meta({ ...words, project }),
  );
const names = fc.array(fc.constantFrom('git', 'ls', 'cat', 'make', '*'));

describe('E8: a project file can only make settings stricter', () => {
  it('an intersected list allows only what both lists allow', () => {
    const allows = (items: readonly string[], name: string) => items.includes('*') || items.includes(name);
    fc.assert(
      fc.property(names, names, fc.constantFrom('git', 'ls', 'cat', 'make', 'rm'), (base, project, name) => {
        const { value } = tighten(list('intersect'), base, project);
        expect(allows(value as string[], name)).toBe(allows(base, name) && allows(project, name));
      }),
    );
  });

  it('an unset list stays unset, and the project list becomes its limit', () => {
    expect(tighten(list('intersect'), undefined, ['git'])).toEqual({ value: undefined, limit: ['git'] });
    expect(tighten(list('intersect'), ['git'], undefined)).toEqual({ value: ['git'] });
  });

  it('a list of restrictions keeps every entry and gains more', () => {
    expect(tighten(list('add'), ['A', 'B'], ['B', 'C'])).toEqual({ value: ['A', 'B', 'C'] });
    expect(tighten(list('add'), undefined, ['C'])).toEqual({ value: ['C'] });
  });

  it('a list that applies alongside leaves the first one unchanged', () => {
    expect(tighten(list('alongside'), ['/a'], ['/b'])).toEqual({ value: ['/a'], limit: ['/b'] });
    expect(tighten(list('alongside'), ['/a'], [])).toEqual({ value: ['/a'] });
  });

  it('a number gets smaller or stays', () => {
    const size = inspectSetting(
      'size',
      s
        .int()
        .min(0)
        .max(99)
        .optional()
        .meta({ ...words, project: 'lower' }),
    );
    expect(tighten(size, 50, 10)).toEqual({ value: 10 });
    expect(tighten(size, 10, 50)).toEqual({ value: 10 });
    expect(tighten(size, undefined, 50)).toEqual({ value: 50 });
  });

  it('a choice moves towards the strict end or stays', () => {
    const level = inspectSetting(
      'level',
      s.choice(['off', 'warn', 'block']).meta({ ...words, project: 'stricter' }),
    );
    expect(tighten(level, 'off', 'block')).toEqual({ value: 'block' });
    expect(tighten(level, 'block', 'warn')).toEqual({ value: 'block' });
  });

  it('a setting with the rule `never` keeps its value', () => {
    expect(tighten(list('never'), ['a'], ['b'])).toEqual({ value: ['a'] });
  });
});

it('a list without an entry for everything is compared entry by entry', () => {
  expect(narrowList(['*', 'a'], ['a'], undefined)).toEqual(['a']);
  expect(narrowList(['a'], undefined, '*')).toEqual(['a']);
});
