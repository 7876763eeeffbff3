import { describe, expect, it, test } from 'vitest';
import { resolveSettings, type SettingSources } from '../settings/resolve-settings.ts';
import { allSettings } from './all-settings.ts';
import { narrowRules, readRules, rulesFor } from './rules-for.ts';

const resolve = (sources: SettingSources) => resolveSettings(sources, allSettings);
const project = (text: string) => ({ project: { path: '/p/nacre.yaml', text } });

describe('rulesFor', () => {
  it('P12: an unset list allows nothing to tools and everything to the local user', () => {
    expect(rulesFor('nothing', resolve({})).rules.allow).toEqual({ kind: 'none' });
    expect(rulesFor('everything', resolve({})).rules.allow).toEqual({ kind: 'all' });
    const listed = resolve({ env: { ALLOWED_COMMANDS: 'git, ls', NACRE_DANGER: 'off' } });
    for (const whenUnset of ['nothing', 'everything'] as const) {
      expect(rulesFor(whenUnset, listed)).toEqual({
        rules: {
          allow: { kind: 'names', names: ['git', 'ls'] },
          allowSetting: 'ALLOWED_COMMANDS',
          programDirs: [],
          danger: 'off',
          confirm: 'never',
          fileWrites: 'any',
          policy: undefined,
        },
        cwdRoots: [],
      });
    }
  });

  it('E8: the roots of a project file apply in addition to those of the settings', () => {
    const sources = { env: { ALLOWED_CWD_ROOTS: '/a,/b' }, ...project('allowed_cwd_roots: [c]\n') };
    expect(rulesFor('nothing', resolve(sources)).cwdRoots).toEqual([['/a', '/b'], ['/p/c']]);
  });
});

test('a rule that allows a program does not widen the list of a token', async () => {
  const text = (verdict: string) =>
    `{ verdict: ${verdict}, program: make, reason: r, examples: { matches: [make] } }`;
  const user = { path: '/u/config.yaml', text: `policy: [${text('allow')}, ${text('ask')}]\n` };
  const general = rulesFor('everything', await readRules(resolve({ user })));
  const { rules } = narrowRules(general, { allow: ['git'], named: 'the token' });
  expect(rules.allow).toEqual({ kind: 'names', names: ['git'] });
  expect(rules.policy).toMatchObject([{ verdict: 'ask' }]);
});

describe('a list that a project file narrows', () => {
  it.each([{ env: { ALLOWED_COMMANDS: 'git,ls' } }, {}])(
    'names the project file, for refusals: %j',
    (sources) => {
      const { rules } = rulesFor(
        'everything',
        resolve({ ...sources, ...project('allowed_commands: [git]\n') }),
      );
      expect(rules.allow).toEqual({ kind: 'names', names: ['git'] });
      expect(rules.narrowedBy).toMatch(/nacre\.yaml/);
    },
  );
});
