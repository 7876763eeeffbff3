import type { ParameterOperation } from 'unbash';
import { escapeGlob, globMatches } from '../words/glob.ts';
import { limits } from '../words/limits.ts';

/** Applies `${x#…}`, `${x/…}`, `${x:…}` or `${x^…}` to a text; undefined if the result is not certain. */
export function transformText(
  text: string,
  operation: ParameterOperation,
  [first, second]: readonly (string | undefined)[],
): string | undefined {
  // How bash counts and changes non-ASCII characters depends on the locale.
  if (text.length > limits.textLength || first === undefined || !/^[\0-\x7f]*$/.test(text)) return undefined;
  if (operation.type === 'Remove') return remove(text, operation.operator, first);
  if (operation.type === 'Replace')
    return second === undefined ? undefined : replace(text, operation.operator, first, second);
  if (operation.type === 'Slice') return second === undefined ? undefined : slice(text, first, second);
  if (operation.type === 'CaseModification')
    return first === '' ? changeCase(text, operation.operator) : undefined;
  return undefined;
}

function remove(text: string, operator: '#' | '##' | '%' | '%%', pattern: string): string | undefined {
  if (text.length > 1024 || /[[(\\]/.test(pattern)) return undefined;
  const lengths = Array.from({ length: text.length + 1 }, (_, index) => index);
  if (operator.length === 2) lengths.reverse();
  const atEnd = operator.startsWith('%');
  const piece = (length: number): string =>
    atEnd ? text.slice(text.length - length) : text.slice(0, length);
  const length = lengths.find((candidate) => globMatches(pattern, piece(candidate)));
  if (length === undefined) return text;
  return atEnd ? text.slice(0, text.length - length) : text.slice(length);
}

function replace(text: string, operator: string, pattern: string, replacement: string): string | undefined {
  // Only literal text is replaced; with a pattern, or `&` in the replacement, the result is unknown.
  if (escapeGlob(pattern) !== pattern || replacement.includes('&')) return undefined;
  // `${x/#/a}` and `${x/%/a}` put text before and after the value; any other empty pattern matches nothing.
  if (pattern === '' && operator !== '/#' && operator !== '/%') return text;
  if (operator === '/#') return text.startsWith(pattern) ? replacement + text.slice(pattern.length) : text;
  if (operator === '/%')
    return text.endsWith(pattern) ? text.slice(0, text.length - pattern.length) + replacement : text;
  return operator === '//' ? text.split(pattern).join(replacement) : text.replace(pattern, () => replacement);
}

function slice(text: string, offset: string, length: string): string | undefined {
  const from = integer(offset);
  const count = length === 'rest' ? text.length : integer(length);
  if (from === undefined || count === undefined) return undefined;
  const start = from < 0 ? text.length + from : from;
  if (start < 0) return '';
  return count < 0 ? text.slice(start, text.length + count) : text.slice(start, start + count);
}

function integer(text: string): number | undefined {
  const plain = text
    .trim()
    .replace(/^\((.*)\)$/s, '$1')
    .trim();
  return /^-?(?:0|[1-9]\d{0,8})$/.test(plain) ? Number(plain) : undefined;
}

function changeCase(text: string, operator: '^' | '^^' | ',' | ',,'): string {
  const change = (part: string): string =>
    operator.startsWith('^') ? part.toUpperCase() : part.toLowerCase();
  return operator.length === 2 ? change(text) : change(text.slice(0, 1)) + text.slice(1);
}
