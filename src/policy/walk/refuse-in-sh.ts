import type { TestExpression } from 'unbash';
import type { TextSpan } from '../words/arg.ts';
import { spanOf, type WalkScope } from './scope.ts';
import type { Walk } from './walk.ts';

/** Reports bash syntax in text for `sh`, where `[[ a || b ]]`, `((a || b))`, `$'…'` and `&>` mean something else. */
export function refuseInSh(walk: Walk, at: TextSpan, what: string, scope: WalkScope): void {
  if (!scope.shell.posix) return;
  const reason = `${what} means something else in sh than in bash, which is not allowed under an allow list`;
  walk.problems.push({ scope: 'finite', rule: 'not_understood', reason, ...spanOf(at, scope) });
}

/** Returns true if a test contains operators that a shell without `[[` reads as command operators or redirections. */
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
