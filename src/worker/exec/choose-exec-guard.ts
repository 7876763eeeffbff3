import { basename } from 'node:path';
import { NacreError } from '../../contract/failure.ts';
import type { ExecMode } from '../../contract/isolation.ts';
import { createExecGuard, type ExecGuard, probeExecGuard } from './exec-guard.ts';
import { type ExecPlan, toExecPlan } from './exec-plan.ts';

/** What is wanted of the kernel, and on which programs. */
export interface ExecWish {
  readonly exec: ExecMode;
  /** The listed programs; undefined when everything may run. */
  readonly execAllow: readonly string[] | undefined;
  /** The guard's program. */
  readonly execGuard: string;
}

/** What comes of it. */
export interface ExecChoice {
  readonly guard?: ExecGuard | undefined;
  /** What the kernel does not hold back, in sentences. */
  readonly gaps: readonly string[];
}

/** Finds out by trying whether the kernel can hold commands to the list; refuses or tells where it cannot. */
export async function chooseExecGuard(
  wish: ExecWish,
  means: { readonly path: string; readonly bashPath: string },
): Promise<ExecChoice> {
  if (wish.exec === 'off') return { gaps: [] };
  if (wish.execAllow === undefined)
    return { gaps: ['exec has nothing to enforce, because every program is allowed.'] };
  const plan = toExecPlan(wish.execAllow, means);
  const found = await probeExecGuard(wish.execGuard, plan, means.bashPath);
  if (found === true) return { guard: createExecGuard(wish.execGuard, plan), gaps: toGaps(plan) };
  return withoutGuard(wish.exec, found);
}

/** The choice where there can be no guard: refused, or named as a gap. */
export function withoutGuard(exec: ExecMode, reason: string): ExecChoice {
  if (exec === 'report')
    return { gaps: [`The kernel does not hold commands to the listed programs: ${reason}.`] };
  throw new NacreError('isolation_unavailable', `exec: enforce is not possible here: ${reason}.`, {
    hint: 'Run nacre doctor to see what this machine allows, or set exec to report. Nothing was run.',
  });
}

/** Says for people whether Landlock can be used here. */
export async function describeLandlock(
  execGuard: string,
  means: { readonly path: string; readonly bashPath: string },
): Promise<string> {
  const found = await probeExecGuard(execGuard, toExecPlan([], means), means.bashPath);
  return found === true ? 'available' : `not available: ${found}`;
}

function toGaps({ added, manyFaces }: ExecPlan): readonly string[] {
  const names = [...new Set(added.map((file) => basename(file)))].join(', ');
  return [
    `Beside the listed programs the kernel executes what they need: ${names}.`,
    'A program that is handed to the dynamic loader (ld.so ./program) runs although it is not listed.',
    'A listed interpreter runs whatever code it reads; the kernel only holds what it starts.',
    'What a command makes others start (a service, cron, a container) is not held.',
    ...manyFaces.map((file) => `${file} has many names, and all of them may be run.`),
  ];
}
