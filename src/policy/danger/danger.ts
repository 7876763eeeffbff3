// Danger (P8): calls that no list allows, not even `*`. danger.test.ts checks each rule's examples.
// A rule inspects the words of one program. Writes to devices are judged in ../walk/judge-write.ts, fork bombs in
// ../walk/functions.ts.
import type { ProgramCall } from '../options/program-call.ts';
import type { TextSpan } from '../words/arg.ts';
import type { DangerRule } from './danger-rule.ts';
import { deleteRules } from './deletes.ts';
import { diskRules } from './disks.ts';
import { essentialFileRules } from './essential-files.ts';
import { essentialPackageRules } from './essential-packages.ts';
import { machineRules } from './machine.ts';
import { ownershipRules } from './ownership.ts';
import { processRules } from './processes.ts';

/** All danger rules. */
export const dangerRules: readonly DangerRule[] = [
  ...deleteRules,
  ...ownershipRules,
  ...diskRules,
  ...processRules,
  ...machineRules,
  ...essentialFileRules,
  ...essentialPackageRules,
];

const byName = new Map<string, DangerRule[]>();
const byPattern: { readonly pattern: RegExp; readonly rule: DangerRule }[] = [];
for (const rule of dangerRules) {
  if (rule.programs instanceof RegExp) byPattern.push({ pattern: rule.programs, rule });
  else for (const name of rule.programs) byName.set(name, [...(byName.get(name) ?? []), rule]);
}

/** Returns the rules that apply to a program. */
export function dangerRulesFor(name: string): readonly DangerRule[] {
  const matching = byPattern.filter(({ pattern }) => pattern.test(name)).map(({ rule }) => rule);
  return [...(byName.get(name) ?? []), ...matching];
}

/** Returns the dangers that these rules find in a call. */
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
