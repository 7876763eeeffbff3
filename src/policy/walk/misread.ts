import type { Word } from 'unbash';
import { mayExpand, type TextSpan } from '../words/arg.ts';
import type { Walk } from './walk.ts';

/** Reports text that bash may read differently from unbash; it is refused under every list. */
export function refuseMisread(walk: Walk, text: string, span: TextSpan): void {
  const reason = `Bash may read ${text.trim()} differently from how it looks, so it cannot be checked.`;
  const hint = 'Write it in a simpler way, for example with a variable for each part.';
  walk.problems.push({ scope: 'always', rule: 'unparsable', reason, hint, ...span });
}

/** Returns true if unbash returned no parts for a word in which bash expands something. */
export function isUnparsed({ text, parts }: { text: string; parts?: Word['parts'] }): boolean {
  return parts === undefined && /`|\$[\w({['"@*#?!$-]/.test(text.replace(/\\./gs, ''));
}

/** Returns true if parentheses outside quotes are unbalanced; bash finds the end of some constructs by counting them. */
export function hasStrayParentheses(text: string): boolean {
  let open = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === openParenthesis) open++;
    else if (code === closeParenthesis && --open < 0) return true;
    else if (code === backslash) at++;
    else if (code === singleQuote || code === doubleQuote) at = endOfQuotes(text, at + 1, text.charAt(at));
  }
  return open !== 0;
}

const [doubleQuote, singleQuote, openParenthesis, closeParenthesis, backslash] = [34, 39, 40, 41, 92];

function endOfQuotes(text: string, from: number, quote: string): number {
  let at = from;
  while (at < text.length && text.charAt(at) !== quote)
    at += quote === '"' && text.charAt(at) === '\\' ? 2 : 1;
  return at;
}

/** Returns true if the text contains an expansion that looks quoted but that bash expands inside double quotes. */
export function mayHideExpansion(text: string): boolean {
  return mayExpand(text) && /['\\]|[<>]\(/.test(text);
}
