import type { TestExpression } from 'unbash';
import type { TextSpan } from '../words/arg.ts';
import { spanOf, type WalkScope } from './scope.ts';
import type { Walk } from './walk.ts';

/** In text for sh, `[[ a || b ]]`, `((a || b))`, `$'…'` and `&>` are commands and words of another kind. */
export function refuseInSh(walk: Walk, at: TextSpan, what: string, scope: WalkScope): void {
  if (!scope.shell.posix) return;
  const reason = `${what} means something else in sh than in bash, which is not allowed under a list`;
  walk.problems.push({ scope: 'finite', rule: 'not_understood', reason, ...spanOf(at, scope) });
}

/** Whether a test holds signs that a shell without `[[` takes for operators between commands or for redirections. */
export function hasOperators(expression: TestExpression): boolean {
  switch (expression.type) {
    case 'TestUnary':
      return false;
    case 'TestBinary':
      return expression.operator === '<' || expression.operator === '>' || expression.operator === '=~';
    case 'TestNot':
      return hasOperators(expression.operand);
    default:
      return true;
  }
}
