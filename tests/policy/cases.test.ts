import { describe, expect, test } from 'vitest';
import { decideCommand } from '../../src/policy/decide-command.ts';
import { type Case, readCases } from './read-cases.ts';

const named = (file: string) =>
  readCases<Pick<Case, 'command' | 'allow'>>(file).map(
    (one) => [`${one.command} [${one.allow}]`, one] as const,
  );

describe('T6: commands that must be denied by the list or as dangerous', () => {
  test.each(named('./denied.jsonl'))('%s', (_name, { command, allow }) => {
    const decision = decideCommand(command, allow);
    expect(decision).toMatchObject({ verdict: 'deny' });
    expect(decision.rule).not.toBe('not_understood');
  });
});

describe('P10: commands that must be allowed', () => {
  test.each(named('./allowed.jsonl'))('%s', (_name, { command, allow }) => {
    const decision = decideCommand(command, allow);
    expect({ verdict: decision.verdict, reason: decision.reason }).toMatchObject({ verdict: 'allow' });
  });
});
