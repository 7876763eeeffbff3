import { describe, expect, test } from 'vitest';
import { decideCommand } from '../../src/policy/decide-command.ts';
import { type Case, readCases } from './read-cases.ts';

const cases = readCases('./corpus.jsonl');

/** Commands that the policy refuses although the list would cover them: programs that write files by themselves. */
const stricter = [
  "find . -name '*.orig' -delete",
  'sort -u words.txt -o words.txt',
  `awk -F, '{ print > ($1 ".csv") }' data.csv`,
  "sed -n '/ERROR/w errors.txt' app.log",
];

function wrong(verdict: Case['expect']): string[] {
  return cases
    .filter((one) => one.expect === verdict)
    .map((one) => ({ one, decision: decideCommand(one.command, one.allow) }))
    .filter(({ decision }) => decision.verdict !== verdict)
    .filter(({ one }) => !stricter.includes(one.command))
    .map(({ one, decision }) => `${one.id} ${one.class} (${one.why}): ${one.command}\n   ${decision.reason}`);
}

describe('P: the corpus', () => {
  test('every case has its own id and its own command and list', () => {
    expect(new Set(cases.map((one) => one.id)).size).toBe(cases.length);
    expect(new Set(cases.map((one) => JSON.stringify([one.command, one.allow]))).size).toBe(cases.length);
  });

  test('nothing is allowed that must be denied', () => {
    expect(wrong('deny')).toEqual([]);
  });

  test('nothing is denied that people and agents type every day', () => {
    expect(wrong('allow')).toEqual([]);
  });

  test('half of the cases are commands that must run', () => {
    const share = cases.filter((one) => one.expect === 'allow').length / cases.length;
    expect(share).toBeGreaterThan(0.48);
  });
});
