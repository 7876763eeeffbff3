import { describe, expect, test } from 'vitest';
import { decideCommand } from '../decide-command.ts';
import { dangerRules } from './danger.ts';

describe.each(dangerRules.map((rule) => [`${rule.rule} (${String(rule.programs)})`, rule] as const))(
  'P8, B10: %s',
  (_name, rule) => {
    test.each(rule.matches)('refuses `%s` under *', (command) => {
      const decision = decideCommand(command, '*');
      expect(decision).toMatchObject({ verdict: 'deny', rule: rule.rule });
      expect(decision.reason).toMatch(/ blocked .*dangerous: \w/);
    });

    test.each(rule.spares)('allows `%s`', (command) => {
      expect(decideCommand(command, '*')).toMatchObject({ verdict: 'allow' });
    });
  },
);
