import { describe, expect, test } from 'vitest';
import { decideCommand } from '../../src/policy/decide-command.ts';
import { readCases } from './read-cases.ts';

const cases = [...readCases('./sample.jsonl'), ...readCases('./hostile-sample.jsonl')];

describe.each([...new Set(cases.map((one) => one.class))])('P: the sample, class %s', (name) => {
  test.each(cases.filter((one) => one.class === name).map((one) => [one.id, one.command, one] as const))(
    '%s: %s',
    (_id, command, one) => {
      const decision = decideCommand(command, one.allow);
      expect({ verdict: decision.verdict, reason: decision.reason }).toMatchObject({ verdict: one.expect });
    },
  );
});
