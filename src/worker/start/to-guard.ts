import type { ExecGuard } from '../exec/exec-guard.ts';
import { findDenied } from '../exec/find-denied.ts';
import { createGuard, type Guard } from '../guard/create-guard.ts';
import type { FileRules } from '../guard/guard-rules.ts';
import { stampOf, toFileRules } from '../sandbox/landlock-sandbox.ts';
import type { SandboxPlan } from '../sandbox/sandbox-plan.ts';
import { identifyFolders } from '../sandbox/workspace.ts';
import type { StartDeps, Started } from './starter.ts';

type GuardDeps = Pick<StartDeps, 'landlock'>;

/** The guard for commands with this plan: it restricts programs, files, both, or is not needed. */
export function toGuard(deps: GuardDeps, plan: SandboxPlan, guard: ExecGuard | undefined): Guard | undefined {
  const { landlock } = deps;
  const files = toFiles(deps, plan);
  if (!files) return guard && forPrograms(guard);
  const program = guard?.program ?? landlock?.program;
  return program && createGuard(program, { execute: guard?.allow, files });
}

const guardsForPrograms = new WeakMap<ExecGuard, Guard>();

// Created once per list, because every waiting shell needs it.
function forPrograms(guard: ExecGuard): Guard {
  const known = guardsForPrograms.get(guard) ?? createGuard(guard.program, { execute: guard.allow });
  guardsForPrograms.set(guard, known);
  return known;
}

/** Finds the programs that the kernel refused to execute for a command; undefined if the list is not enforced. */
export function toDeniedPrograms(
  { path }: Pick<StartDeps, 'path'>,
  guard: ExecGuard | undefined,
): Started['deniedPrograms'] {
  return guard && ((evidence) => findDenied(evidence, { allow: guard.allow, path }));
}

/** Whether `toGuard` returns a guard; unlike it, this does not check the workspace. */
export function needsGuard(
  { landlock }: GuardDeps,
  { isolation }: SandboxPlan,
  guard: ExecGuard | undefined,
): boolean {
  return guard !== undefined || (landlock !== undefined && isolation.sandbox !== 'off');
}

/** A text that changes when shells with this plan are out of date (`identifyFolders`, `stampOf`). */
export function toStamp(deps: GuardDeps, plan: SandboxPlan | undefined): string {
  const files = plan && toFiles(deps, plan);
  const mounted = plan ? [...plan.writable, ...plan.protected.fixed, ...plan.protected.readOnly] : [];
  const stamp = identifyFolders(mounted);
  return files ? `${stamp} ${JSON.stringify(files)} ${stampOf(files)}` : stamp;
}

function toFiles({ landlock }: GuardDeps, plan: SandboxPlan): FileRules | undefined {
  return landlock && plan.isolation.sandbox !== 'off' ? toFileRules(plan, landlock) : undefined;
}
