import { type ParsedScript, parse } from 'unbash';
import { limits, PolicyLimitError } from '../words/limits.ts';
import { lostParenthesis } from './lost-parenthesis.ts';

const [tab, newline, space] = [9, 10, 32];
const arithmeticWork = 16;

/** Parses shell text; throws `PolicyLimitError` if parsing would take too long or nest too deeply. */
export function parseScript(text: string): ParsedScript {
  if (marksIn(text) > fewMarks) refuseTooDeep(text);
  try {
    return withLostParenthesis(withSplitMarks(parse(text), text), text);
  } catch (error) {
    if (error instanceof RangeError) throw new PolicyLimitError('it is nested too deeply');
    throw error;
  }
}

function refuseTooDeep(text: string): void {
  if (parserWork(text) > limits.parserWork)
    throw new PolicyLimitError('it has too many nested braces or heredocs');
  // unbash parses each substitution on access, together with everything inside it.
  const nested = Math.max(depth(text, '$(', ')'), depth(text, '<(', ')'), depth(text, '>(', ')'));
  if (nested > limits.substitutions) throw new PolicyLimitError('it is nested too deeply');
}

/** With at most this many marks no limit is reached, even if all are nested and of the most expensive kind. */
const fewMarks = Math.min(Math.floor(Math.sqrt(limits.parserWork / arithmeticWork)), limits.substitutions);

/** Counts the characters that begin every nestable construct. */
function marksIn(text: string): number {
  return count(text, '$') + count(text, '{') + count(text, '<') + count(text, '>');
}

/** Adds an error if a line continuation splits `$(`, `${` or `<(`: bash joins the lines first, unbash not everywhere. */
function withSplitMarks(script: ParsedScript, text: string): ParsedScript {
  const found = text.includes('\\\n') ? splitMark.exec(text) : null;
  if (found === null) return script;
  return withError(script, 'a line continuation splits the beginning of an expansion', found.index);
}

/** Adds an error if unbash has dropped a `(` without reporting one. */
function withLostParenthesis(script: ParsedScript, text: string): ParsedScript {
  const end = lostParenthesis(script, text);
  return end === undefined ? script : withError(script, "unexpected token '('", text.indexOf('(', end));
}

function withError(script: ParsedScript, message: string, at: number): ParsedScript {
  const { type, pos, end, shebang, commands, errors = [] } = script;
  return { type, pos, end, shebang, commands, errors: [...errors, { message, pos: at }] };
}

const splitMark = /\$(?:\\\n)+[\w({["'@*#?!$-]|(?:\$\(|[<>])(?:\\\n)+\(/;

/** Estimates unbash's quadratic work: for each brace, arithmetic expression and heredoc it searches for the end again. */
function parserWork(text: string): number {
  const arithmetic = depth(text, '$((', '))') + depth(text, '$[', ']');
  const heredocs = count(text, '<<');
  return arithmeticWork * arithmetic * arithmetic + 0.5 * heredocs * heredocs + braceWork(text);
}

/** Sums the squares of the number of braces in each word. */
function braceWork(text: string): number {
  let work = 0;
  let inWord = 0;
  let last = -1;
  for (let at = text.indexOf('{'); at >= 0; at = text.indexOf('{', at + 1)) {
    inWord = hasBlank(text, last + 1, at) ? 1 : inWord + 1;
    last = at;
    work += 2 * inWord - 1;
  }
  return work;
}

function hasBlank(text: string, from: number, to: number): boolean {
  for (let at = from; at < to; at++) {
    const code = text.charCodeAt(at);
    if (code === space || code === tab || code === newline) return true;
  }
  return false;
}

function count(text: string, mark: string): number {
  let found = 0;
  for (let at = text.indexOf(mark); at >= 0; at = text.indexOf(mark, at + 1)) found++;
  return found;
}

/** Estimates the maximum nesting depth of the marks from the text alone. */
function depth(text: string, open: string, close: string): number {
  const [opening, closing] = [open.charCodeAt(0), close.charCodeAt(0)];
  let deepest = 0;
  let now = 0;
  // Reads characters: thousands of calls of indexOf() for a mark of two characters took seconds in some texts.
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === opening && text.startsWith(open, at)) {
      now++;
      if (now > deepest) deepest = now;
      at += open.length - 1;
    } else if (code === closing && now > 0 && text.startsWith(close, at)) now--;
  }
  return deepest;
}
