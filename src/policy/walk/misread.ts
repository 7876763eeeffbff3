import type { Word } from 'unbash';
import { mayExpand, type TextSpan } from '../words/arg.ts';
import type { Walk } from './walk.ts';

/** Refuses text that bash may read in another way than the parser, under every list. */
export function refuseMisread(walk: Walk, text: string, span: TextSpan): void {
  const reason = `Bash may read ${text.trim()} in another way than it looks, so it is not understood.`;
  const hint = 'Write it in a plainer way, for example with a variable for each part.';
  walk.problems.push({ scope: 'always', rule: 'unparsable', reason, hint, ...span });
}

/** Whether the parser has not taken apart a word in which bash expands something. */
export function isUnparsed({ text, parts }: { text: string; parts?: Word['parts'] }): boolean {
  return parts === undefined && /`|\$[\w({['"@*#?!$-]/.test(text.replace(/\\./gs, ''));
}

/** Whether parentheses do not match when quotes are all that is heeded, which is how bash finds the end of some stretches. */
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

/** Whether text holds what only bash's reading of double quotes tells apart: there it expands what looks quoted. */
export function mayHideExpansion(text: string): boolean {
  return mayExpand(text) && /['\\]|[<>]\(/.test(text);
}
