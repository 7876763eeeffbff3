import { execFile } from 'node:child_process';
import { accessSync, constants, existsSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { Environment } from '../machine/environment.ts';
import type { SandboxPlan } from '../sandbox/sandbox-plan.ts';
import type { ExecPlan } from './exec-plan.ts';
import type { GuardOrder } from './guard.ts';

/** The program in front of every shell that leaves it only what may be executed. */
export interface ExecGuard {
  /** How a program is started behind the guard, with its variables and descriptors. */
  toStart(
    program: readonly string[],
    env: Environment,
    fds: readonly number[],
  ): { readonly argv: readonly string[]; readonly env: Environment };
  /** A sandbox in which the guard itself can be found, and in which no allowed program can be changed. */
  toPlan(plan: SandboxPlan): SandboxPlan;
  /** The allowed programs that whoever runs commands could change. */
  writable(): readonly string[];
}

/** Makes a guard from its program and from what it is to allow. */
export function createExecGuard(guardPath: string, { allow }: Pick<ExecPlan, 'allow'>): ExecGuard {
  return {
    toStart(program, env, fds) {
      const { own, held } = holdBack(env);
      const order: GuardOrder = { allow, fds, env: held };
      return { argv: [process.execPath, guardPath, JSON.stringify(order), ...program], env: own };
    },
    toPlan(plan) {
      const { sandbox } = plan.isolation;
      const hidden = sandbox === 'strict' ? [...plan.home, '/tmp', '/run'] : ['/tmp', '/run'];
      const shown = sandbox === 'off' ? [] : ownParts(guardPath).filter((path) => isWithin(path, hidden));
      const fixed = allow.filter((path) => sandbox === 'off' || isWithin(path, plan.writable));
      return { ...plan, pinned: [...shown, ...fixed] };
    },
    writable: () => allow.filter(isWritable),
  };
}

/** Tries a guard: true, or the reason why there can be none here. */
export async function probeExecGuard(
  guardPath: string,
  plan: ExecPlan,
  bashPath: string,
): Promise<true | string> {
  if (!existsSync(guardPath)) return `its program ${guardPath} is missing`;
  const allow = plan.allow.filter((path) => path !== realpathSync(process.execPath));
  // Node is no shell's need: behind the guard it has to be refused.
  const script = '"$0" --version > /dev/null 2>&1; [ $? = 126 ] && echo held';
  const program = [bashPath, '--noprofile', '--norc', '-c', script, process.execPath];
  const { argv } = createExecGuard(guardPath, { allow }).toStart(program, {}, [0, 1, 2]);
  const [node = '', ...args] = argv;
  return new Promise((resolve) => {
    execFile(node, args, { env: {}, timeout: probeMs }, (error, stdout, stderr) => {
      if (stdout === 'held\n') return resolve(true);
      resolve(stderr.trim().split('\n')[0] || (error?.message ?? 'the kernel executed what is not listed'));
    });
  });
}

const probeMs = 10_000;

// Variables for Node would change the guard; the program behind it gets them back.
function holdBack(env: Environment): { readonly own: Environment; readonly held: Environment } {
  const pairs = Object.entries(env);
  const isForNode = ([name]: readonly [string, string]) => name.startsWith('NODE_');
  return {
    own: Object.fromEntries(pairs.filter((pair) => !isForNode(pair))),
    held: Object.fromEntries(pairs.filter(isForNode)),
  };
}

// Node, the guard's program, and the package with its prebuilt file beside it.
function ownParts(guardPath: string): readonly string[] {
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
