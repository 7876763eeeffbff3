import { isListed } from './match-rules.ts';
import type { CommandProblem, Invocation, Survey } from './walk/survey.ts';
import { wordText } from './words/arg.ts';
import { baseName } from './words/paths.ts';

/** Returns the first program that `confirm: unlisted` asks about (P11). */
export function firstUnconfirmed(
  invocations: readonly Invocation[],
  programDirs: readonly string[],
): Invocation | undefined {
  return invocations.find((found) => found.needsListing && !isSafe(found, programDirs));
}

/** Returns the first write of a program that is considered safe only if it reads, as in `grep x y > z`. */
export function firstUnconfirmedWrite({ problems, invocations }: Survey): CommandProblem | undefined {
  const isReader = (name: string): boolean => /^(?:grep|find|awk|sed)$/.test(baseName(name));
  return problems.find(
    ({ scope, program }) =>
      scope === 'write' &&
      // A redirection after a loop or a group belongs to no single program.
      (program === undefined ? invocations.some(({ name }) => isReader(name)) : isReader(program)),
  );
}

const safe = 'git npm yarn pnpm ls pwd echo cat python python3 node make cmake'.split(' ');

/** Programs that are safe unless this function, called with their arguments, returns true. */
const unsafeWhen: Readonly<Record<string, (words: readonly string[]) => boolean>> = {
  docker: (words) => words.some((word) => /^(?:rm|rmi|prune|kill|down|remove|delete)$/.test(word)),
  grep: () => false,
  find: (words) =>
    words.some((word) => /^-(?:delete|exec|execdir|ok|okdir|fprint0?|fprintf|fls)$/.test(word)),
  awk: (words) => words.some((word) => /\bsystem\s*\(|\||>|^-i$/.test(word)),
  sed: (words) => words.some((word) => /^-[a-zA-Z]*i|^--in-place|^--i/.test(word)),
};

function isSafe({ name, args }: Invocation, programDirs: readonly string[]): boolean {
  if (isListed(name, safe, programDirs)) return true;
  if (!isListed(name, Object.keys(unsafeWhen), programDirs)) return false;
  const program = baseName(name);
  return unsafeWhen[program]?.(args.map((arg) => wordText(arg))) === false;
}
