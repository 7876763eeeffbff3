import { describe, expect, it, test } from 'vitest';
import { resolveSettings, type SettingSources } from '../settings/resolve-settings.ts';
import { allSettings } from './all-settings.ts';
import { narrowRules, readRules, rulesFor, rulesForFamily, rulesForShell, whenUnset } from './rules-for.ts';

const resolve = (sources: SettingSources) => resolveSettings(sources, allSettings);
const project = (text: string) => ({ project: { path: '/p/nacre.yaml', text } });

describe('P12: the programs that every door runs while its list is unset', () => {
  const only = (tools: string) => resolve({ env: { NACRE_TOOLS: tools } });
  const specified = 'git ls cat head tail grep find wc diff docker npm npx make cargo go python pip'.split(
    ' ',
  );
  const table = {
    terminal: ['none', rulesForFamily('terminal', only('terminal'))],
    bash: ['all', rulesForFamily('bash', only('bash'))],
    'shell-execute': ['all', rulesForFamily('shell-execute', only('shell-execute'))],
    changes: ['all', rulesForFamily('changes', only('changes'))],
    cli: ['all', rulesFor('cli', resolve({}))],
    program: ['all', rulesFor('program', resolve({}))],
    app: [specified, rulesForShell(resolve({}))],
  } as const satisfies Record<keyof typeof whenUnset, unknown>;

  test.each(Object.entries(table))('%s: %s', (_, [expected, { rules }]) => {
    const { allow } = rules;
    expect(allow.kind === 'names' ? allow.names : allow.kind).toEqual(expected);
  });

  it('has no other door', () => {
    expect(Object.keys(table)).toEqual(Object.keys(whenUnset));
  });

  it('applies the strictest of families that are offered together', () => {
    for (const family of ['terminal', 'bash', 'shell-execute'] as const)
      expect(rulesForFamily(family, only('all')).rules.allow).toEqual({ kind: 'none' });
  });
});

describe('rulesFor', () => {
  it('P12: an unset list allows nothing to tools and everything to the local user', () => {
    expect(rulesFor('terminal', resolve({})).rules.allow).toEqual({ kind: 'none' });
    expect(rulesFor('cli', resolve({})).rules.allow).toEqual({ kind: 'all' });
    const listed = resolve({ env: { ALLOWED_COMMANDS: 'git, ls', NACRE_DANGER: 'off' } });
    for (const door of ['terminal', 'cli'] as const) {
      expect(rulesFor(door, listed)).toEqual({
        rules: {
          allow: { kind: 'names', names: ['git', 'ls'] },
          allowSetting: 'ALLOWED_COMMANDS',
          programDirs: [],
          danger: 'off',
          confirm: 'never',
          fileWrites: 'any',
          unprotected: [],
          policy: undefined,
        },
        cwdRoots: [],
      });
    }
  });

  it('E8: the roots of a project file apply in addition to those of the settings', () => {
    const sources = { env: { ALLOWED_CWD_ROOTS: '/a,/b' }, ...project('allowed_cwd_roots: [c]\n') };
    expect(rulesFor('terminal', resolve(sources)).cwdRoots).toEqual([['/a', '/b'], ['/p/c']]);
  });
});

test('a rule that allows a program does not widen the list of a token', async () => {
  const text = (verdict: string) =>
    `{ verdict: ${verdict}, program: make, reason: r, examples: { matches: [make] } }`;
  const user = { path: '/u/config.yaml', text: `policy: [${text('allow')}, ${text('ask')}]\n` };
  const general = rulesFor('cli', await readRules(resolve({ user })));
  const { rules } = narrowRules(general, { allow: ['git'], named: 'the token' });
  expect(rules.allow).toEqual({ kind: 'names', names: ['git'] });
  expect(rules.policy).toMatchObject([{ verdict: 'ask' }]);
});

describe('a list that a project file narrows', () => {
  it.each([{ env: { ALLOWED_COMMANDS: 'git,ls' } }, {}])(
    'names the project file, for refusals: %j',
    (sources) => {
      const { rules } = rulesFor('cli', resolve({ ...sources, ...project('allowed_commands: [git]\n') }));
      expect(rules.allow).toEqual({ kind: 'names', names: ['git'] });
      expect(rules.narrowedBy).toMatch(/nacre\.yaml/);
    },
  );
});
