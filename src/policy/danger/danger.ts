// Danger (P8): what no list allows. Each rule has its own examples, checked by danger.test.ts.
// Rules look at one program's words; writes to devices are judged where files are written (../writes.ts), fork bombs
// where functions are called (../walk/functions.ts).
import type { ProgramCall } from '../options/program-call.ts';
import type { TextSpan } from '../words/arg.ts';
import type { DangerRule } from './danger-rule.ts';
import { deleteRules } from './deletes.ts';
import { diskRules } from './disks.ts';
import { ownershipRules } from './ownership.ts';
import { processRules } from './processes.ts';

/** Every rule. */
export const dangerRules: readonly DangerRule[] = [
  ...deleteRules,
  ...ownershipRules,
  ...diskRules,
  ...processRules,
];

const byName = new Map<string, DangerRule[]>();
const byPattern: { readonly pattern: RegExp; readonly rule: DangerRule }[] = [];
for (const rule of dangerRules) {
  if (rule.programs instanceof RegExp) byPattern.push({ pattern: rule.programs, rule });
  else for (const name of rule.programs) byName.set(name, [...(byName.get(name) ?? []), rule]);
}

/** The rules that look at calls of a program. */
export function dangerRulesFor(name: string): readonly DangerRule[] {
  const matching = byPattern.filter(({ pattern }) => pattern.test(name)).map(({ rule }) => rule);
  return [...(byName.get(name) ?? []), ...matching];
}

/** The dangers of one call, of those that these rules know. */
export function dangerOf(
  call: ProgramCall,
  rules: readonly DangerRule[],
): readonly (TextSpan & { rule: string; reason: string })[] {
  return rules.flatMap((rule) => {
    const found = rule.test(call);
    return found === undefined
      ? []
      : [{ rule: rule.rule, reason: found.reason, pos: found.at.pos, end: found.at.end }];
  });
}
