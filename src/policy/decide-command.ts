import type { Facts } from '../contract/facts.ts';
import { verdictOn } from './decide.ts';
import { understand } from './understand.ts';

/** A verdict with its rule and reason only. */
export interface CommandDecision {
  readonly verdict: 'allow' | 'deny';
  readonly rule: string;
  readonly reason: string;
}

/** Decides on a bash command by an allow list of program names, or `*` for all, without any facts about the machine. */
export function decideCommand(command: string, allow: readonly string[] | '*'): CommandDecision {
  const rules = {
    allow: allow === '*' ? ({ kind: 'all' } as const) : ({ kind: 'names', names: allow } as const),
    allowSetting: 'the list',
    danger: 'block',
  } as const;
  const { verdict, rule, reason } = verdictOn(understand({ kind: 'shell', script: command }), noFacts, rules);
  return { verdict: verdict === 'allow' ? 'allow' : 'deny', rule, reason };
}

const noFacts: Facts = {
  cwd: { asked: '', problem: 'missing' },
  roots: [],
  home: '/root',
  programs: {},
};
