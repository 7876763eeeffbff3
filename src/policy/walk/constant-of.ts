import type { ArithmeticExpression } from 'unbash';

/** The result of an expression of small numbers such as `$((-1))`, as text; undefined if it is not constant. */
export function constantOf(expression: ArithmeticExpression | undefined): string | undefined {
  const value = expression && resultOf(expression, 0);
  return value === undefined || Math.abs(value) > 2 ** 31 ? undefined : String(value + 0);
}

function resultOf(expression: ArithmeticExpression, depth: number): number | undefined {
  if (depth > 16) return undefined;
  switch (expression.type) {
    case 'ArithmeticWord':
      return /^\s*(?:0|[1-9]\d{0,8})\s*$/.test(expression.value) ? Number(expression.value) : undefined;
    case 'ArithmeticGroup':
      return resultOf(expression.expression, depth + 1);
    case 'ArithmeticUnary': {
      const inner = resultOf(expression.operand, depth + 1);
      if (inner === undefined) return undefined;
      return expression.operator === '-' ? -inner : expression.operator === '+' ? inner : undefined;
    }
    case 'ArithmeticBinary':
      return combined(
        expression.operator,
        resultOf(expression.left, depth + 1),
        resultOf(expression.right, depth + 1),
      );
    default:
      return undefined;
  }
}

function combined(operator: string, left: number | undefined, right: number | undefined): number | undefined {
  if (left === undefined || right === undefined) return undefined;
  if (operator === '+') return left + right;
  if (operator === '-') return left - right;
  return operator === '*' ? left * right : undefined;
}
