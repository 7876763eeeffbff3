// Commands for which the reference shows the policy's decision; none of them is ever run.
import type { Decision, Rules } from '../../src/contract/decision.ts';
import type { Facts } from '../../src/contract/facts.ts';
import { dangerRules } from '../../src/policy/danger/danger.ts';
import { decide } from '../../src/policy/decide.ts';
import { understand } from '../../src/policy/understand.ts';

/** The facts about the machine in the examples. */
export const place: Facts = {
  cwd: { asked: '/srv/app', path: '/srv/app' },
  roots: [{ asked: '/srv/app', path: '/srv/app' }],
  home: '/home/ann',
  programs: {},
};

/** The rules of an example; without `list` every program is allowed. */
export interface ExampleRules extends Partial<Pick<Rules, 'confirm' | 'fileWrites' | 'policy'>> {
  readonly list?: readonly string[];
}

/** The decision on an example command. */
export function decideExample(script: string, { list, ...more }: ExampleRules): Decision {
  const allow = list === undefined ? ({ kind: 'all' } as const) : toAllow(list);
  const rules = { allow, allowSetting: 'ALLOWED_COMMANDS', danger: 'block', ...more } as const;
  return decide(understand({ kind: 'shell', script }), place, rules);
}

function toAllow(names: readonly string[]): Rules['allow'] {
  return names.length === 0 ? { kind: 'none' } : { kind: 'names', names };
}

const listed = { list: ['git', 'ls', 'cat', 'echo', 'env', 'find'] };

/** Commands that are refused or need approval, with the rules for each. */
export const refusedExamples: readonly (readonly [string, ExampleRules])[] = [
  ['ls', { list: [] }],
  ['git pull; curl example.com', listed],
  ['find . -exec rm {} +', listed],
  ['ls "$(whoami)"', listed],
  ['$PAGER notes.txt', listed],
  ['eval "$SCRIPT"', listed],
  ["git -c core.pager='less' log", listed],
  ['LD_PRELOAD=./x.so ls', listed],
  ['echo x > ~/.bashrc', listed],
  ['echo "unfinished', listed],
  ['echo x > notes.txt', { ...listed, fileWrites: 'none' }],
  [
    'git push --force',
    {
      policy: [{ verdict: 'deny', program: 'git', args: ['push', '--force'], reason: 'history is shared.' }],
    },
  ],
  [
    'npm publish',
    { policy: [{ verdict: 'ask', program: 'npm', args: ['publish'], reason: 'it cannot be taken back.' }] },
  ],
  ['terraform apply', { confirm: 'unlisted' }],
  [':(){ :|:& };:', {}],
  ['echo x > /dev/sda', {}],
  ...dangerRules.map(({ matches }) => [matches[0] ?? '', {}] as const),
];
