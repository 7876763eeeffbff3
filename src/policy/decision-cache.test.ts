import { describe, expect, it } from 'vitest';
import type { Command, CommandContext } from '../contract/command.ts';
import type { Rules } from '../contract/decision.ts';
import type { Facts } from '../contract/facts.ts';
import { decide } from './decide.ts';
import { DecisionCache } from './decision-cache.ts';
import { understand } from './understand.ts';

type Arguments = readonly [Command, CommandContext, Facts, Rules];

const script = (text: string): Command => ({ kind: 'shell', script: text });
const facts: Facts = {
  cwd: { asked: '/home/me/app', path: '/home/me/app' },
  roots: [],
  home: '/home/me',
  programs: {},
};
const rules: Rules = {
  allow: { kind: 'names', names: ['ls', 'rm', 'sh'] },
  allowSetting: 'ALLOWED_COMMANDS',
  danger: 'block',
};
const usual: Arguments = [script('rm -rf *; sh'), { stdin: { kind: 'none' } }, facts, rules];
const [command, context] = usual;

const variations: readonly (readonly [string, Arguments])[] = [
  ['the same arguments', usual],
  ['another command', [script('rm -rf *; sh; ls'), context, facts, rules]],
  ['an argv', [{ kind: 'argv', argv: ['rm', '-rf', '*; sh'] }, context, facts, rules]],
  ['another directory', [command, context, { ...facts, cwd: { asked: '/', path: '/' } }, rules]],
  ['another home', [script('rm -rf ~/*'), context, facts, rules]],
  ['another home for the same command', [script('rm -rf ~/*'), context, { ...facts, home: '/tmp/x' }, rules]],
  ['a known stdin', [command, { stdin: { kind: 'text', text: 'touch x' } }, facts, rules]],
  ['a harmless stdin', [command, { stdin: { kind: 'text', text: 'ls' } }, facts, rules]],
  ['a variable that chooses code', [command, { ...context, env: { PATH: '.' } }, facts, rules]],
  ['a variable that is data', [command, { ...context, env: { LANG: 'C' } }, facts, rules]],
  ['a shorter list', [command, context, facts, { ...rules, allow: { kind: 'names', names: ['ls'] } }]],
  ['no list', [command, context, facts, { ...rules, allow: { kind: 'none' } }]],
  ['danger turned off', [script('rm -rf /'), context, facts, { ...rules, danger: 'off' }]],
  ['danger turned on', [script('rm -rf /'), context, facts, rules]],
  [
    'a rule',
    [
      command,
      context,
      facts,
      { ...rules, policy: [{ verdict: 'deny', program: 'rm', reason: 'Nothing is deleted.' }] },
    ],
  ],
  [
    'a session',
    [
      script('ls'),
      { ...context, lasting: true },
      {
        ...facts,
        session: {
          cwd: '/home/me/app',
          aliases: { ls: 'touch x' },
          functions: {},
          exportedFunctions: [],
          attributes: {},
          arrays: [],
          options: ['expand_aliases'],
          pathUnchanged: true,
        },
      },
      rules,
    ],
  ],
  ['no session', [script('ls'), { ...context, lasting: true }, facts, rules]],
];

const fresh = ([command, context, facts, rules]: Arguments) =>
  decide(understand(command, context), facts, rules);

describe('DecisionCache', () => {
  it('returns the same object for the same arguments', () => {
    const cache = new DecisionCache();
    expect(cache.decide(...structuredClone(usual))).toBe(cache.decide(...usual));
  });

  it('decides like `decide` whichever argument changes, in any order', () => {
    const cache = new DecisionCache();
    const orders = [variations, [...variations].reverse(), variations];
    for (const order of orders)
      for (const [what, given] of order) expect(cache.decide(...given), what).toEqual(fresh(given));
  });

  it('decides differently about these arguments, so a wrong key would show', () => {
    const verdicts = variations.map(([, given]) => fresh(given).verdict + fresh(given).rule);
    expect(new Set(verdicts).size).toBeGreaterThan(4);
  });

  it('knows a session by its object, and another state of it is another key', () => {
    const cache = new DecisionCache();
    const [, [listing, lasting, withAlias]] = variations.find(([what]) => what === 'a session') ?? [
      '',
      usual,
    ];
    const { session } = withAlias;
    const decided = cache.decide(listing, lasting, withAlias, rules);
    expect(cache.decide(listing, lasting, { ...withAlias }, rules)).toBe(decided);
    const changed = { ...withAlias, session: session && { ...session, aliases: {} } };
    expect(cache.decide(listing, lasting, changed, rules).verdict).not.toBe(decided.verdict);
    expect(cache.decide(listing, lasting, withAlias, rules)).toBe(decided);
    const elsewhere = { ...withAlias, cwd: { asked: '/', path: '/' } };
    expect(cache.decide(listing, lasting, elsewhere, rules)).not.toBe(decided);
    expect(cache.decide(listing, lasting, withAlias, { ...rules, allow: { kind: 'none' } }).verdict).toBe(
      'deny',
    );
  });

  it('forgets all decisions instead of growing without bound', () => {
    const cache = new DecisionCache();
    const first = cache.decide(...usual);
    for (let n = 0; n < 600; n++) cache.decide(script(`ls ${n}`), context, facts, rules);
    const again = cache.decide(...usual);
    expect(again).not.toBe(first);
    expect(again).toEqual(first);
  });
});
