import { type ParsedScript, parse } from 'unbash';
import { limits, PolicyLimitError } from '../words/limits.ts';

const [tab, newline, space] = [9, 10, 32];
const arithmeticWork = 16;

/** Parses shell text; text on which the parser would take too long or end too deep reaches a limit. */
export function parseScript(text: string): ParsedScript {
  if (marksIn(text) > fewMarks) refuseTooDeep(text);
  try {
    return withCutMarks(parse(text), text);
  } catch (error) {
    if (error instanceof RangeError) throw new PolicyLimitError('it is nested too deeply');
    throw error;
  }
}

function refuseTooDeep(text: string): void {
  if (parserWork(text) > limits.parserWork)
    throw new PolicyLimitError('it nests braces or heredocs without end');
  // Each substitution is parsed when it is looked at, with all that stands inside it.
  const nested = Math.max(depth(text, '$(', ')'), depth(text, '<(', ')'), depth(text, '>(', ')'));
  if (nested > limits.substitutions) throw new PolicyLimitError('it is nested too deeply');
}

/** So few marks reach no limit, even when all of them are of the kind that makes the most work and stand in each other. */
const fewMarks = Math.min(Math.floor(Math.sqrt(limits.parserWork / arithmeticWork)), limits.substitutions);

/** Counts the characters with which everything begins that can be nested. */
function marksIn(text: string): number {
  return count(text, '$') + count(text, '{') + count(text, '<') + count(text, '>');
}

/** Bash joins continued lines before it looks for `$(`, `${` or `<(`, which the parser does not do everywhere. */
function withCutMarks(script: ParsedScript, text: string): ParsedScript {
  const found = text.includes('\\\n') ? cutMark.exec(text) : null;
  if (found === null) return script;
  const { type, pos, end, shebang, commands, errors = [] } = script;
  const cut = { message: 'a line is continued within the beginning of an expansion', pos: found.index };
  return { type, pos, end, shebang, commands, errors: [...errors, cut] };
}

const cutMark = /\$(?:\\\n)+[\w({["'@*#?!$-]|(?:\$\(|[<>])(?:\\\n)+\(/;

/** The parser looks for the end of braces, arithmetic and heredocs again from each of them, so its work grows with the square. */
function parserWork(text: string): number {
  const arithmetic = depth(text, '$((', '))') + depth(text, '$[', ']');
  const heredocs = count(text, '<<');
  return arithmeticWork * arithmetic * arithmetic + 0.5 * heredocs * heredocs + braceWork(text);
}

/** The squares of how many braces each word opens, summed up. */
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

/** How deep the marks are nested at most, as far as the text alone tells. */
function depth(text: string, open: string, close: string): number {
  let deepest = 0;
  let now = 0;
  let end = text.indexOf(close);
  for (let at = text.indexOf(open); at >= 0; at = text.indexOf(open, at + open.length)) {
    for (; end >= 0 && end < at; end = text.indexOf(close, end + 1)) now = Math.max(0, now - 1);
    deepest = Math.max(deepest, ++now);
  }
  return deepest;
}
