import { describe, expect, test } from 'vitest';
import { decideCommand } from '../../src/policy/decide-command.ts';
import { type Case, readCases } from './read-cases.ts';

const cases = readCases<Pick<Case, 'command' | 'allow' | 'expect'>>('./red-team.jsonl');

describe('T6 P8 P10: commands from a red team that did not know the code', () => {
  test.each(cases.map((one) => [`${one.command} [${one.allow}]`, one] as const))(
    '%s',
    (_name, { command, allow, expect: verdict }) => {
      const decision = decideCommand(command, allow);
      expect({ verdict: decision.verdict, reason: decision.reason }).toMatchObject({ verdict });
      expect(decision.rule).not.toBe('not_understood');
    },
  );

  test('a write to a file that is not known is refused for that reason', () => {
    const decision = decideCommand('echo x > "$(find . -name config)"', ['echo', 'find']);
    expect(decision.rule).toBe('protected_file');
    expect(decision.reason).toContain('is not known before it runs');
  });

  test('a dangerous text that may be run is named as such', () => {
    expect(decideCommand("echo 'rm -rf /' | sed e", '*').reason).toContain(
      'in text that this command may run',
    );
  });

  test('the same text is allowed if nothing runs it', () => {
    expect(decideCommand("echo 'rm -rf /' | sed s/a/b/", '*').verdict).toBe('allow');
  });
});
