import { basename } from 'node:path';
import { NacreError } from '../../contract/failure.ts';
import type { ExecMode, SupervisionLevel } from '../../contract/isolation.ts';
import { createExecGuard, type ExecGuard, probeExecGuard } from './exec-guard.ts';
import { type ExecPlan, toExecPlan } from './exec-plan.ts';

/** Settings of `exec`: which programs the kernel may execute for commands. */
export interface ExecOptions {
  readonly exec: ExecMode;
  /** The listed programs; `undefined` if every program is allowed. */
  readonly execAllow: readonly string[] | undefined;
  /** Path of the guard's program, dist/exec-guard.js. */
  readonly execGuard: string;
}

/** The result of `chooseExecGuard`: a guard, or nothing to enforce. */
export interface ExecEnforcement {
  readonly guard?: ExecGuard | undefined;
  /** Sentences about what the kernel does not prevent. */
  readonly gaps: readonly string[];
}

/** Probes whether the kernel can enforce the list; if not, `enforce` throws and `report` returns a gap. */
export async function chooseExecGuard(
  options: ExecOptions,
  deps: { readonly path: string; readonly bashPath: string },
): Promise<ExecEnforcement> {
  if (options.exec === 'off') return { gaps: [] };
  if (options.execAllow === undefined)
    return { gaps: ['exec has nothing to enforce, because every program is allowed.'] };
  const plan = toExecPlan(options.execAllow, deps);
  const found = await probeExecGuard(options.execGuard, plan, deps.bashPath);
  if ('version' in found) return { guard: createExecGuard(found.program, plan), gaps: toGaps(plan) };
  return withoutGuard(options.exec, found.reason);
}

/** The result without a guard: an error for `enforce`, a gap for `report`. */
function withoutGuard(exec: ExecMode, reason: string): ExecEnforcement {
  if (exec === 'report')
    return { gaps: [`The kernel does not restrict commands to the listed programs: ${reason}.`] };
  throw new NacreError('isolation_unavailable', `exec: enforce is not possible on this machine: ${reason}.`, {
    hint: 'Run nacre doctor to see what this machine allows, or set exec to report. Nothing was run.',
  });
}

/** The gaps of an enforcement at a level; only bubblewrap can mount the listed programs read-only (`SandboxPlan.pinned`). */
export function execGaps({ guard, gaps }: ExecEnforcement, level: SupervisionLevel): readonly string[] {
  const canChange = level !== 'namespace' && guard !== undefined && guard.writablePrograms().length > 0;
  return canChange ? [...gaps, 'A command can change a listed program that it may write to.'] : gaps;
}

function toGaps({ added, multiCall }: ExecPlan): readonly string[] {
  const names = [...new Set(added.map((file) => basename(file)))].join(', ');
  return [
    `In addition to the listed programs, the kernel executes what they need: ${names}.`,
    'A program that is passed to the dynamic loader (ld.so ./program) runs although it is not listed.',
    'A listed interpreter runs any code that it reads; the kernel restricts only what it executes.',
    'Programs that a command has others start (a service, cron, a container) are not restricted.',
    ...multiCall.map((file) => `${file} is a multi-call program, and may be run under any of its names.`),
  ];
}
