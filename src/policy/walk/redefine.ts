import type { TextSpan } from '../words/arg.ts';
import type { WalkScope } from './scope.ts';
import type { Walk } from './walk.ts';

/** Builtins by which a persistent shell tells its state: whoever redefines one of them can tell another. */
export const stateBuiltins: ReadonlySet<string> = new Set(
  'alias builtin command declare enable eval exec exit export jobs local printf pwd read set shopt trap typeset unalias unset'.split(
    ' ',
  ),
);

/** A function that bash calls by itself, so that no command shows when, and with which variables. */
export const calledByBash = 'command_not_found_handle';

/** Judges the name that a function or alias is given. */
export function judgeNewName(walk: Walk, name: string, span: TextSpan, scope: WalkScope): void {
  const reason =
    name === calledByBash
      ? `bash would call ${name} by itself, which is not allowed under a list`
      : scope.lasting && stateBuiltins.has(name)
        ? `redefining ${name} is not allowed under a list, because this persistent shell relies on it`
        : undefined;
  if (reason === undefined) return;
  const { pos, end } = span;
  walk.problems.push({ scope: 'finite', rule: 'redefined', reason, program: name, pos, end });
}
