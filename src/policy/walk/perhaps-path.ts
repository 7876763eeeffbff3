import type { ParameterOperation } from 'unbash';
import { textOf, type Value } from '../words/arg.ts';
import { globMatches } from '../words/glob.ts';
import { transformText } from './transform-text.ts';

/** Variables of the environment that contain absolute paths. */
const pathVariable = /^\$(?:PWD|OLDPWD|PATH|SHELL|TMPDIR|BASH|XDG_\w+)$/;
const samplePaths = ['/srv/some/work', '/bin/bash'];

/**
 * The path that an operation such as `${HOME//[a-z]/}` may leave of an absolute path, for the danger rules; undefined if nothing
 * absolute is left. It is a guess, because bash compares patterns as its settings say, and variables of the environment are unknown.
 */
export function perhapsPath(
  value: Value,
  name: string,
  operation: ParameterOperation,
  texts: readonly (string | undefined)[],
): string | undefined {
  const text = textOf(value);
  if (text !== undefined) {
    const result = text.startsWith('/') ? cut(text, operation, texts) : undefined;
    if (result !== undefined) return result.startsWith('/') ? result : undefined;
    return name === 'HOME' && operation.type !== 'CaseModification' ? '/' : undefined;
  }
  const [piece, ...others] = value;
  if (typeof piece !== 'object' || others.length > 0 || !pathVariable.test(piece.text)) return undefined;
  const paths = name === 'TMPDIR' ? [...samplePaths, '/tmp'] : samplePaths;
  const isCutToRoot = paths.some((path) => /^\/*$/.test(cut(path, operation, texts) ?? ''));
  return isCutToRoot ? '/' : undefined;
}

/** Like `transformText`, also for patterns with sets such as `[a-z]`. */
function cut(
  text: string,
  operation: ParameterOperation,
  texts: readonly (string | undefined)[],
): string | undefined {
  const [pattern, replacement = ''] = texts;
  const exact = transformText(text, operation, texts);
  if (exact !== undefined || pattern === undefined || !isSimple(text, pattern)) return exact;
  if (operation.type === 'Remove') return removed(text, operation.operator, pattern);
  return operation.type === 'Replace' ? replaced(text, operation.operator, pattern, replacement) : undefined;
}

/** Long texts are not cut: every position is compared, and each comparison takes time in proportion to the length. */
const maxLength = 96;

/** Returns false for extended globs, classes such as `[:alpha:]` and escapes. */
function isSimple(text: string, pattern: string): boolean {
  return text.length <= maxLength && pattern.length <= maxLength && !/[(\\]|\[[:.=]/.test(pattern);
}

function removed(text: string, operator: string, pattern: string): string {
  const lengths = Array.from(text, (_, index) => index + 1);
  if (operator.length === 2) lengths.reverse();
  const atEnd = operator.startsWith('%');
  const rest = (length: number): [string, string] => [
    text.slice(0, atEnd ? -length : length),
    text.slice(atEnd ? -length : length),
  ];
  const found = lengths.find((length) => globMatches(pattern, rest(length)[atEnd ? 1 : 0]));
  return found === undefined ? text : rest(found)[atEnd ? 0 : 1];
}

/** Replaces the longest match at the first position that has one; `//` continues after it. */
function replaced(text: string, operator: string, pattern: string, replacement: string): string {
  let result = '';
  for (let at = 0; at < text.length; ) {
    const end = operator === '/#' && at > 0 ? 0 : longestMatch(text, at, pattern, operator === '/%');
    if (end === 0) result += text.charAt(at++);
    else {
      result += replacement;
      if (operator !== '//') return result + text.slice(end);
      at = end;
    }
  }
  return result;
}

/** The end of the longest match that begins at `from`, or 0; only the end of the text with `atEnd`. */
function longestMatch(text: string, from: number, pattern: string, atEnd: boolean): number {
  const least = atEnd ? text.length : from + 1;
  for (let end = text.length; end >= least; end--)
    if (globMatches(pattern, text.slice(from, end))) return end;
  return 0;
}
