import { createGuard, type Guard } from '../guard/create-guard.ts';
import type { FileRules } from '../guard/guard-rules.ts';
import { stampOf, toFileRules } from '../sandbox/landlock-sandbox.ts';
import type { SandboxPlan } from '../sandbox/sandbox-plan.ts';
import type { StartDeps } from './starter.ts';

type GuardDeps = Pick<StartDeps, 'execEnforcement' | 'landlock'>;

/** The guard for commands with this plan: it restricts programs, files, both, or is not needed. */
export function toGuard(deps: GuardDeps, plan: SandboxPlan): Guard | undefined {
  const { execEnforcement, landlock } = deps;
  const execute = execEnforcement.guard?.allow;
  const files = toFiles(deps, plan);
  const program = execEnforcement.guard?.program ?? landlock?.program;
  return program && (execute || files) ? createGuard(program, { execute, files }) : undefined;
}

/** Whether `toGuard` returns a guard; unlike it, this does not check the workspace. */
export function needsGuard({ execEnforcement, landlock }: GuardDeps, { isolation }: SandboxPlan): boolean {
  return execEnforcement.guard !== undefined || (landlock !== undefined && isolation.sandbox !== 'off');
}

/** A text that changes when shells with this plan are out of date (`stampOf`). */
export function toStamp(deps: GuardDeps, plan: SandboxPlan | undefined): string {
  const files = plan && toFiles(deps, plan);
  return files ? `${JSON.stringify(files)} ${stampOf(files)}` : '';
}

function toFiles({ landlock }: GuardDeps, plan: SandboxPlan): FileRules | undefined {
  return landlock && plan.isolation.sandbox !== 'off' ? toFileRules(plan, landlock) : undefined;
}
