import { existsSync, realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { Environment } from '../machine/environment.ts';
import type { GuardOptions, GuardRules } from './guard-rules.ts';
import { hasPerlCalls, toPerlWords } from './perl-guard.ts';

/** A program that restricts itself by the rules in its arguments and then becomes another program. */
export interface GuardProgram {
  /** Variables that begin with `prefix` would change this program; `set` is added to its environment, and removed by it. */
  readonly ownVariables: { readonly prefix: string; readonly set: Environment };
  /** The files that it reads before it is restricted. */
  readonly files: readonly string[];
  toArguments(options: GuardOptions, program: readonly string[]): readonly string[];
  /** The path of exec-guard.pl and its rules, for the fork server; absent if the program is not in perl. */
  toForkWords?(rules: GuardRules): readonly string[];
}

// perl is not looked up on the PATH, where it could be in a folder that a sandbox hides or that commands can write to.
const perlPath = '/usr/bin/perl';

/**
 * The programs of the guard whose Node version is at `path`, the fastest first: perl (about 1 ms), which nearly every
 * distribution has, or Node with koffi (about 50 ms).
 */
export function findGuardPrograms(path: string, perl = perlPath): readonly GuardProgram[] {
  const script = join(dirname(path), 'exec-guard.pl');
  const hasPerl = hasPerlCalls && existsSync(perl) && existsSync(script);
  return [
    ...(hasPerl ? [createPerlProgram(perl, script)] : []),
    ...(existsSync(path) ? [createNodeProgram(path)] : []),
  ];
}

function createPerlProgram(perl: string, script: string): GuardProgram {
  return {
    // Without PERL_BADLANG=0, perl warns about a locale that is not installed.
    ownVariables: { prefix: 'PERL', set: { PERL_BADLANG: '0' } },
    files: [realpathSync(perl), script],
    toArguments: (options, program) => [perl, '-f', script, ...toPerlWords(options), '--', ...program],
    toForkWords: (rules) => [script, ...toPerlWords({ ...rules, fds: [], env: {} })],
  };
}

function createNodeProgram(path: string): GuardProgram {
  return {
    ownVariables: { prefix: 'NODE_', set: {} },
    files: filesOfNode(path),
    toArguments: (options, program) => [process.execPath, path, JSON.stringify(options), ...program],
  };
}

// Node, the program with its package.json, and the package koffi.
function filesOfNode(path: string): readonly string[] {
  const require = createRequire(path);
  const packages = ['koffi', `@koromix/koffi-${process.platform}-${process.arch}`].flatMap((name) =>
    (require.resolve.paths(name) ?? [])
      .map((folder) => join(folder, name))
      .filter((found) => existsSync(found))
      .slice(0, 1),
  );
  const manifest = join(dirname(dirname(path)), 'package.json');
  return [process.execPath, path, manifest, ...packages].filter((file) => existsSync(file));
}
