import type { TextSpan } from '../words/arg.ts';
import type { WalkScope } from './scope.ts';
import type { Walk } from './walk.ts';

/** Builtins such as `declare` with which a persistent shell reports its state; redefined, they could report a false one. */
export const stateBuiltins: ReadonlySet<string> = new Set(
  'alias builtin command declare enable eval exec exit export jobs local printf pwd read set shopt trap typeset unalias unset'.split(
    ' ',
  ),
);

/** A function that bash itself calls for unknown commands, so the walk cannot see when and with which variables. */
export const calledByBash = 'command_not_found_handle';

/** Judges the name of a new function or alias. */
export function judgeNewName(walk: Walk, name: string, span: TextSpan, scope: WalkScope): void {
  const reason =
    name === calledByBash
      ? `bash itself would call ${name}, which is not allowed under an allow list`
      : scope.lasting && stateBuiltins.has(name)
        ? `redefining ${name} is not allowed under an allow list, because this persistent shell relies on it`
        : undefined;
  if (reason === undefined) return;
  const { pos, end } = span;
  walk.problems.push({ scope: 'finite', rule: 'redefined', reason, program: name, pos, end });
}
