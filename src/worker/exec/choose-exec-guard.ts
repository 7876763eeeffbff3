import { basename } from 'node:path';
import { NacreError } from '../../contract/failure.ts';
import type {
  Enforcement,
  ExecList,
  ExecMode,
  SandboxName,
  SupervisionLevel,
} from '../../contract/isolation.ts';
import { describeAutoExec } from '../../support/describe-exec.ts';
import { createExecGuard, type ExecGuard, probeExecGuard } from './exec-guard.ts';
import { type ExecPlan, type ExecPlanDeps, toExecPlan } from './exec-plan.ts';

/** Settings of `exec`: which programs the kernel may execute for commands. */
export interface ExecOptions {
  readonly exec: ExecMode;
  readonly sandbox: SandboxName;
  /**
   * The usual list, for shells that are started in advance and commands without a list of their own; `undefined` if every
   * program is allowed.
   */
  execAllow(): ExecList | undefined;
  /** Path of the guard's program, dist/exec-guard.js. */
  readonly execGuard: string;
}

/** The result of `chooseExecGuard`: a guard, or nothing to enforce. */
export interface ExecEnforcement {
  readonly guard?: ExecGuard | undefined;
  /** Sentences about what the kernel does not prevent. */
  readonly gaps: readonly string[];
  /** A clause about what `exec: auto` enforces. */
  readonly note?: string | undefined;
}

/** Probes whether the kernel can enforce a list; if not, `enforce` throws, and `auto` and `report` return a gap. */
export async function chooseExecGuard(
  { exec, execGuard, sandbox }: Omit<ExecOptions, 'execAllow'>,
  list: ExecList | undefined,
  deps: ExecPlanDeps,
): Promise<ExecEnforcement> {
  if (exec === 'off') return { gaps: [] };
  if (list === undefined)
    return {
      gaps: exec === 'auto' ? [] : ['exec has nothing to enforce, because every program is allowed.'],
    };
  const note = exec === 'auto' ? describeAutoExec(list, sandbox) : undefined;
  // An open list is the user's choice, so it is not reported as a gap.
  if (exec === 'auto' && list.open.length > 0) return { gaps: [], note };
  const plan = toExecPlan(list, deps);
  const found = await probeExecGuard(execGuard, plan, deps.bashPath);
  if ('version' in found) return { guard: createExecGuard(found.program, plan), gaps: toGaps(plan), note };
  return withoutGuard(exec, found.reason);
}

/** The result without a guard: an error for `enforce`, otherwise a gap. */
function withoutGuard(exec: ExecMode, reason: string): ExecEnforcement {
  if (exec !== 'enforce')
    return {
      gaps: [`The kernel does not restrict commands to the listed programs: ${reason}.`],
      note: exec === 'auto' ? `nothing is enforced by the kernel, because ${reason}` : undefined,
    };
  throw new NacreError('isolation_unavailable', `exec: enforce is not possible on this machine: ${reason}.`, {
    hint: 'Run nacre doctor to see what this machine allows, or set exec to report. Nothing was run.',
  });
}

/** `Enforcement.exec` of a command. */
export function toExecState({ guard }: ExecEnforcement): Enforcement['exec'] {
  return guard === undefined ? 'off' : 'enforced';
}

/** True if the kernel executes a program under `one` that it would not under `other`. */
export function isLooser({ guard: one }: ExecEnforcement, { guard: other }: ExecEnforcement): boolean {
  if (other === undefined || one === other) return false;
  const allowed = new Set(other.allow);
  return one === undefined || one.allow.some((path) => !allowed.has(path));
}

/** The gaps of `exec` at a level; only bubblewrap can mount the listed programs read-only (`SandboxPlan.pinned`). */
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
    'Programs that a service, cron or a container starts for a command are not restricted.',
    ...multiCall.map((file) => `${file} is a multi-call program, and may be run under any of its names.`),
  ];
}
