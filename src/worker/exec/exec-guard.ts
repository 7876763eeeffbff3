import { execFile } from 'node:child_process';
import { accessSync, constants, existsSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { Environment } from '../machine/environment.ts';
import type { SandboxPlan } from '../sandbox/sandbox-plan.ts';
import type { ExecPlan } from './exec-plan.ts';
import type { GuardOptions } from './guard.ts';

/** The program that is started before every shell and restricts which programs it may execute. */
export interface ExecGuard {
  /** The arguments and variables that start `program` through the guard, with these descriptors open. */
  wrap(
    program: readonly string[],
    env: Environment,
    fds: readonly number[],
  ): { readonly argv: readonly string[]; readonly env: Environment };
  /** Adds the guard's own files and the allowed programs to `pinned`: visible in the sandbox, and read-only. */
  pinIn(plan: SandboxPlan): SandboxPlan;
  /** The allowed programs that the user who runs commands could change (`access(2)` with W_OK). */
  writablePrograms(): readonly string[];
}

/** Creates a guard from the path of its program and the files to allow. */
export function createExecGuard(guardPath: string, { allow }: Pick<ExecPlan, 'allow'>): ExecGuard {
  return {
    wrap(program, env, fds) {
      const { forNode, rest } = splitNodeVariables(env);
      const options: GuardOptions = { allow, fds, env: forNode };
      return { argv: [process.execPath, guardPath, JSON.stringify(options), ...program], env: rest };
    },
    pinIn(plan) {
      const { sandbox } = plan.isolation;
      const hidden = sandbox === 'strict' ? [...plan.home, '/tmp', '/run'] : ['/tmp', '/run'];
      const shown = sandbox === 'off' ? [] : guardFiles(guardPath).filter((path) => isWithin(path, hidden));
      const fixed = allow.filter((path) => sandbox === 'off' || isWithin(path, plan.writable));
      return { ...plan, pinned: [...shown, ...fixed] };
    },
    writablePrograms: () => allow.filter(isWritable),
  };
}

/** Tests the guard: returns `true`, or the reason why it does not work on this machine. */
export async function probeExecGuard(
  guardPath: string,
  plan: ExecPlan,
  bashPath: string,
): Promise<true | string> {
  if (!existsSync(guardPath)) return `its program ${guardPath} is missing`;
  const allow = plan.allow.filter((path) => path !== realpathSync(process.execPath));
  // `node` is removed from the list, so the shell that the guard starts must fail to execute it: EACCES, exit code 126.
  const script = '"$0" --version > /dev/null 2>&1; [ $? = 126 ] && echo denied';
  const program = [bashPath, '--noprofile', '--norc', '-c', script, process.execPath];
  const { argv } = createExecGuard(guardPath, { allow }).wrap(program, {}, [0, 1, 2]);
  const [node = '', ...args] = argv;
  return new Promise((resolve) => {
    execFile(node, args, { env: {}, timeout: probeMs }, (error, stdout, stderr) => {
      if (stdout === 'denied\n') return resolve(true);
      resolve(
        stderr.trim().split('\n')[0] ||
          (error?.message ?? 'the kernel executed a program that is not listed'),
      );
    });
  });
}

const probeMs = 10_000;

// NODE_* variables would change the guard itself; it restores them for the program that it executes.
function splitNodeVariables(env: Environment): { readonly forNode: Environment; readonly rest: Environment } {
  const pairs = Object.entries(env);
  const isForNode = ([name]: readonly [string, string]) => name.startsWith('NODE_');
  return {
    forNode: Object.fromEntries(pairs.filter(isForNode)),
    rest: Object.fromEntries(pairs.filter((pair) => !isForNode(pair))),
  };
}

// Node, the guard's program with its package.json, and the package koffi with its prebuilt module.
function guardFiles(guardPath: string): readonly string[] {
  const require = createRequire(guardPath);
  const packages = ['koffi', `@koromix/koffi-${process.platform}-${process.arch}`].flatMap((name) =>
    (require.resolve.paths(name) ?? [])
      .map((folder) => join(folder, name))
      .filter((path) => existsSync(path))
      .slice(0, 1),
  );
  const manifest = join(dirname(dirname(guardPath)), 'package.json');
  return [process.execPath, guardPath, manifest, ...packages].filter((path) => existsSync(path));
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
