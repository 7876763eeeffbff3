/** A regular expression for the `RegExp` constructor. */
export interface Expression {
  readonly source: string;
  readonly flags: string;
}

// Callers look for text within a line, so `^` and `$` match at line ends.
const lineFlag = 'm';

/**
 * Converts a pattern, in the syntax of JavaScript or of Python's `re`, for `RegExp`. The supported Python syntax is
 * flags at the start (`(?i)`), named groups (`(?P<x>…)`, `(?P=x)`), comments, `\A`, `\Z`, `{,n}`, and `]` as the first
 * character of a set.
 */
export function toExpression(pattern: string): Expression {
  const [leading = '', letters = ''] = /^\(\?([aimsxuL]+)\)/.exec(pattern) ?? [];
  const body = pattern.slice(leading.length);
  const isVerbose = letters.includes('x');
  const parts = body.match(isVerbose ? verboseToken : token) ?? [];
  const flags = new Set([lineFlag, ...letters].filter((letter) => 'ims'.includes(letter)));
  return {
    source: (isVerbose ? parts.filter(isMeant) : parts).map(toJavaScript).join(''),
    flags: [...flags].join(''),
  };
}

// Sets are one token, so that nothing inside them is converted.
const set = String.raw`\[\^?\]?(?:\\[^]|[^\]\\])*\]?`;
const plain = String.raw`\\[^]|${set}|\(\?#[^)]{0,99}\)|\(\?P[<=]\w{0,99}[)>]?|\{,\d{1,9}\}|[^]`;
const token = new RegExp(plain, 'g');
const verboseToken = new RegExp(String.raw`\\[^]|${set}|\s+|#[^\n]*|${plain}`, 'g');

// With `(?x)`, blanks and comments are not part of the pattern.
function isMeant(part: string): boolean {
  return !/^[\s#]/.test(part);
}

function toJavaScript(part: string): string {
  if (part.startsWith('(?P<')) return `(?<${part.slice('(?P<'.length)}`;
  if (part.startsWith('(?P=')) return `\\k<${part.slice('(?P='.length, -1)}>`;
  if (part.startsWith('(?#')) return '';
  if (part.startsWith('{,')) return `{0${part.slice(1)}`;
  if (part === '\\A') return '(?<![^])';
  if (part === '\\Z') return '(?![^])';
  return part.length > 2 ? part.replace(/^\[(\^?)\](?=.)/s, '[$1\\]') : part;
}
