import type { TestExpression, Word } from 'unbash';
import { type TextSpan, textOf, unknown, type Value } from '../words/arg.ts';
import { type Output, silent } from '../words/output.ts';
import { spanOf, type WalkScope } from './scope.ts';
import { addDerived, type Shell } from './shell.ts';
import { outsideVariable, union, unknownVariable, type Variable } from './variable.ts';
import type { Walk } from './walk.ts';

/** Walks the expression of `[[ … ]]`, which prints nothing. */
export function walkTest(walk: Walk, expression: TestExpression, scope: WalkScope): Output {
  walk.spend(1);
  switch (expression.type) {
    case 'TestUnary':
      testOperand(
        walk,
        expression.operand,
        scope,
        expression.operator === '-v' || expression.operator === '-R' ? 'name' : undefined,
      );
      break;
    case 'TestBinary': {
      let compared: readonly Value[] = [];
      for (const side of [expression.left, expression.right]) {
        const values = testOperand(
          walk,
          side,
          scope,
          numeric.has(expression.operator) ? 'arithmetic' : undefined,
        );
        if (expression.operator === '=~' && !matchesPlainText(expression.right.text))
          for (const value of values) addDerived(scope.shell, 'BASH_REMATCH', value);
        else if (expression.operator === '=~' && !scope.shell.variables.has('BASH_REMATCH'))
          scope.shell.variables.set('BASH_REMATCH', outsideVariable);
        if (side === expression.left) compared = values;
      }
      if (expression.operator === '=~' && mayTakeSlash(expression.right.text)) addPath(scope.shell, compared);
      break;
    }
    case 'TestLogical':
      for (const operand of expression.operands) walkTest(walk, operand, scope);
      break;
    case 'TestNot':
      walkTest(walk, expression.operand, scope);
      break;
    case 'TestGroup':
      walkTest(walk, expression.expression, scope);
  }
  return silent;
}

/** Returns true for a regular expression such as `^v([0-9]+)`, whose matches contain only letters, digits and dots. */
function matchesPlainText(regex: string): boolean {
  return /^\^?(?:\w|\\\.|[()+*?]|\[0-9\]|\{\d*(?:,\d*)?\})*\$?$/.test(regex);
}

/** Returns false if every group is like `([^/]+)`, or matches only plain text. */
function mayTakeSlash(regex: string): boolean {
  const others = regex.replace(/\(\[\^\/[^\]]{0,40}\][+*?]?\)/g, '');
  return !matchesPlainText(regex) && (others === regex || others.includes('('));
}

/** For the danger rules: a part of a text with a slash may be the path of the root directory. */
function addPath({ variables }: Shell, values: readonly Value[]): void {
  if (!values.some((value) => textOf(value)?.includes('/'))) return;
  const path: Variable = { kind: 'text', values: [[{ ...unknown, from: '/' }]] };
  variables.set('BASH_REMATCH', union(variables.get('BASH_REMATCH') ?? unknownVariable, path));
}

function testOperand(
  walk: Walk,
  word: Word,
  scope: WalkScope,
  as: 'name' | 'arithmetic' | undefined,
): readonly Value[] {
  const span: TextSpan = spanOf(word, scope);
  const values = walk.single(word, scope);
  for (const value of values) if (as !== undefined) walk.evaluate(value, as, span, scope);
  return values;
}

const numeric = new Set(['-eq', '-ne', '-lt', '-le', '-gt', '-ge']);
