import type { PolicyRule } from '../contract/decision.ts';
import { ruleFor } from './match-rules.ts';
import { surveyCommand } from './survey-command.ts';
import { understand } from './understand.ts';

/** An example of a rule that does not hold, in a sentence. */
export interface FailedExample {
  readonly rule: PolicyRule;
  readonly command: string;
  readonly message: string;
}

/** Checks the examples of every rule: what a rule says it matches must match it alone, what it spares must not. */
export function checkRules(rules: readonly PolicyRule[]): FailedExample[] {
  return rules.flatMap((rule) => [
    ...(rule.examples?.matches ?? [])
      .filter((command) => !applies(rule, command))
      .map((command) => failed(rule, command, 'does not match')),
    ...(rule.examples?.spares ?? [])
      .filter((command) => applies(rule, command))
      .map((command) => failed(rule, command, 'matches')),
  ]);
}

function failed(rule: PolicyRule, command: string, what: string): FailedExample {
  const message = `The ${rule.verdict} rule for ${rule.program} ${what} its example: ${command}`;
  return { rule, command, message };
}

function applies(rule: PolicyRule, command: string): boolean {
  const plan = understand({ kind: 'shell', script: command });
  const { invocations } = surveyCommand(plan, { home: '/root', session: undefined, cwd: rule.cwd });
  return ruleFor(invocations, [rule]) !== undefined;
}
