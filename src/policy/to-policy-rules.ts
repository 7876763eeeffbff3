import type { PolicyRule } from '../contract/decision.ts';
import { NacreError } from '../contract/failure.ts';
import { checkRules } from './check-rules.ts';

/** Returns the effective rules: all of the user's, and the project's `deny` and `ask` rules. */
export function toPolicyRules(
  own: readonly PolicyRule[],
  project: readonly PolicyRule[] | undefined,
): readonly PolicyRule[] {
  const rules = [...own, ...(project ?? []).filter(({ verdict }) => verdict !== 'allow')];
  const [failed] = checkRules(rules);
  if (failed === undefined) return rules;
  throw new NacreError('settings_invalid', `policy: ${failed.message}.`, {
    hint: 'Correct the rule or its example; nothing was started.',
  });
}
