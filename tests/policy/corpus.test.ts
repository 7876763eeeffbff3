import { describe, expect, test } from 'vitest';
import { decideCommand } from '../../src/policy/decide-command.ts';
import { type Case, readCases } from './read-cases.ts';

const cases = readCases('./corpus.jsonl');

/** Commands that the policy refuses although their program is listed: it writes files, or may read a word as an option. */
const stricter = [
  "find . -name '*.orig' -delete",
  'sort -u words.txt -o words.txt',
  `awk -F, '{ print > ($1 ".csv") }' data.csv`,
  "sed -n '/ERROR/w errors.txt' app.log",
  'while read -r name url; do git clone "$url" "$name"; done < repos.txt',
];

function wrongVerdicts(verdict: Case['expect']): string[] {
  return cases
    .filter((one) => one.expect === verdict)
    .map((one) => ({ one, decision: decideCommand(one.command, one.allow) }))
    .filter(({ decision }) => decision.verdict !== verdict)
    .filter(({ one }) => !stricter.includes(one.command))
    .map(({ one, decision }) => `${one.id} ${one.class} (${one.why}): ${one.command}\n   ${decision.reason}`);
}

describe('P: the corpus', () => {
  test('every case has a unique id and a unique pair of command and list', () => {
    expect(new Set(cases.map((one) => one.id)).size).toBe(cases.length);
    expect(new Set(cases.map((one) => JSON.stringify([one.command, one.allow]))).size).toBe(cases.length);
  });

  test('every command that must be denied is denied', () => {
    expect(wrongVerdicts('deny')).toEqual([]);
  });

  test('every everyday command is allowed', () => {
    expect(wrongVerdicts('allow')).toEqual([]);
  });

  test('two fifths of the cases must be allowed', () => {
    const share = cases.filter((one) => one.expect === 'allow').length / cases.length;
    expect(share).toBeGreaterThan(0.4);
  });
});
