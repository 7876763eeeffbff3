import type { Word } from 'unbash';
import type { TextSpan, Value } from '../words/arg.ts';
import { mayHideExpansion } from './misread.ts';
import type { WalkScope } from './scope.ts';
import type { Walk } from './walk.ts';

/** Evaluates a word as an arithmetic expression, such as a subscript or the bounds of a slice. */
export function evaluateExpression(
  walk: Walk,
  word: Word,
  span: TextSpan,
  scope: WalkScope,
): readonly Value[] {
  if (isNumeral(word.text)) {
    walk.spend(2);
    return [[word.text]];
  }
  const values = walk.single(word, scope);
  for (const value of values) walk.evaluate(value, 'arithmetic', span, scope);
  if (mayHideExpansion(word.text)) walk.evaluate(word.text, 'arithmetic', span, scope);
  return values;
}

/** Expands the subscript of an array; bash evaluates it unless the array is associative. */
export function evaluateKey(
  walk: Walk,
  name: string,
  key: Word,
  span: TextSpan,
  scope: WalkScope,
): readonly Value[] {
  if (scope.shell.defined.associative.get(name) === true && !mayHideExpansion(key.text))
    return walk.single(key, scope);
  return evaluateExpression(walk, key, span, scope);
}

/** Returns true for digits only, which most bounds and many subscripts are; they need no evaluation. */
function isNumeral(text: string): boolean {
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code < 0x30 || code > 0x39) return false;
  }
  return text !== '';
}

/** Evaluates the subscript of an array element `[subscript]=value`, given its text and its expanded fields. */
export function evaluateSubscript(
  walk: Walk,
  text: string,
  fields: readonly { readonly pieces: Value }[],
  span: TextSpan,
  scope: WalkScope,
): void {
  for (const { pieces } of fields) walk.evaluate(subscriptOf(pieces), 'arithmetic', span, scope);
  const source = text.slice(0, text.lastIndexOf(']=') + 1);
  if (mayHideExpansion(source)) walk.evaluate(source, 'arithmetic', span, scope);
}

/** Returns the part before the last `]=`; the subscript itself may contain brackets. */
function subscriptOf(pieces: Value): Value {
  const last = pieces.findLastIndex((piece) => typeof piece === 'string' && /\]\+?=/.test(piece));
  return pieces
    .slice(0, last + 1)
    .map((piece, index) => (index === last && typeof piece === 'string' ? beforeLastMark(piece) : piece));
}

function beforeLastMark(text: string): string {
  const mark = Math.max(text.lastIndexOf(']='), text.lastIndexOf(']+='));
  return mark < 0 ? text : text.slice(0, mark);
}
