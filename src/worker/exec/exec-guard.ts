import { accessSync, constants, realpathSync } from 'node:fs';
import { dirname } from 'node:path';
import { probeGuard } from '../guard/create-guard.ts';
import type { GuardProgram } from '../guard/guard-program.ts';
import type { SandboxPlan } from '../sandbox/sandbox-plan.ts';
import type { ExecPlan } from './exec-plan.ts';

/** The programs that the guard lets a command execute. */
export interface ExecGuard {
  readonly program: GuardProgram;
  /** Canonical paths, for `GuardRules.execute`. */
  readonly allow: readonly string[];
  /** Adds the guard's own files and the allowed programs that could be changed to `pinned`: visible in the sandbox, and read-only. */
  pinIn(plan: SandboxPlan): SandboxPlan;
  /** The allowed programs that the user who runs commands could change (`access(2)` with W_OK). */
  writablePrograms(): readonly string[];
}

/** Creates a guard from its program and the files to allow. */
export function createExecGuard(program: GuardProgram, { allow }: Pick<ExecPlan, 'allow'>): ExecGuard {
  const changeable = onDemand(() => toPins(allow.filter(isChangeable)));
  return {
    program,
    allow,
    pinIn(plan) {
      const { sandbox } = plan.isolation;
      const isHidden = (path: string) =>
        isWithin(path, [...plan.homes, '/tmp', '/run']) && !isWithin(path, plan.shown.paths);
      const shown = sandbox === 'off' ? [] : program.files.filter(isHidden);
      const fixed = sandbox === 'off' ? changeable() : allow.filter((path) => isWithin(path, plan.writable));
      return { ...plan, pinned: [...shown, ...fixed] };
    },
    writablePrograms: () => allow.filter(isWritable),
  };
}

/** Tests the guard: returns its program and the version of Landlock, or the reason why it does not work on this machine. */
export async function probeExecGuard(
  guardPath: string,
  plan: ExecPlan,
  bashPath: string,
): ReturnType<typeof probeGuard> {
  const execute = plan.allow.filter((path) => path !== realpathSync(process.execPath));
  // `node` is removed from the list, so the shell that the guard starts must fail to execute it: EACCES, exit code 126.
  const script = '"$0" --version > /dev/null 2>&1; [ $? = 126 ] && echo denied';
  return probeGuard(guardPath, { execute }, { bashPath, script, words: [process.execPath] });
}

// Every mount slows bubblewrap down, so system folders with several of the programs are mounted as a whole.
function toPins(paths: readonly string[]): readonly string[] {
  const folders = paths.map((path) => dirname(path)).filter((folder) => systemFolder.test(folder));
  const shared = new Set(folders.filter((folder) => folders.filter((one) => one === folder).length > 2));
  return [...shared, ...paths.filter((path) => !shared.has(dirname(path)))];
}

const systemFolder = /^\/usr\/(?!local(?:\/|$))/;

// A file can be written to, or replaced in a folder that can be written.
function isChangeable(path: string): boolean {
  return isWritable(path) || (path !== '/' && isChangeable(dirname(path)));
}

function onDemand<T>(create: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: create() };
    return made.value;
  };
}

function isWithin(path: string, folders: readonly string[]): boolean {
  return folders.some((folder) => path.startsWith(`${folder}/`));
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
