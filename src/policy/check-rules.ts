import type { PolicyRule } from '../contract/decision.ts';
import { ruleFor } from './match-rules.ts';
import { surveyCommand, understand } from './understand.ts';

/** A `matches` example that does not match, or a `spares` example that does, with a sentence about it. */
export interface FailedExample {
  readonly rule: PolicyRule;
  readonly command: string;
  readonly message: string;
}

/** Checks every rule by itself: its `matches` examples must match and its `spares` examples must not. */
export function checkRules(rules: readonly PolicyRule[]): FailedExample[] {
  return rules.flatMap((rule) => [
    ...(rule.examples?.matches ?? [])
      .filter((command) => !applies(rule, command))
      .map((command) => failed(rule, command, 'does not match its example')),
    ...(rule.examples?.spares ?? [])
      .filter((command) => applies(rule, command))
      .map((command) => failed(rule, command, 'matches its spared example')),
  ]);
}

function failed(rule: PolicyRule, command: string, problem: string): FailedExample {
  const message = `The ${rule.verdict} rule for ${rule.program} ${problem}: ${command}`;
  return { rule, command, message };
}

function applies(rule: PolicyRule, command: string): boolean {
  const plan = understand({ kind: 'shell', script: command });
  const { invocations } = surveyCommand(plan, { home: '/root', session: undefined, cwd: rule.cwd });
  return ruleFor(invocations, [rule]) !== undefined;
}
