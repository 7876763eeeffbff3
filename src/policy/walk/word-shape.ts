/** The shape of a word, recognised from its text without having unbash parse its parts. */
export type WordShape =
  /** Nothing is quoted or expanded: `src/a.ts`. */
  | 'plain'
  /** One quoted string without expansions: `"a b"`, `'a b'`. */
  | 'double'
  | 'single'
  /** One variable, with or without double quotes: `$x`, `"$x"`. */
  | 'variable'
  /** One double-quoted string whose only expansions are variables: `"a $x"`. */
  | 'quoted'
  | 'other';

/** Returns the shape of a word. Called for every word of a command, so it reads each character once. */
export function shapeOf(text: string): WordShape {
  const first = text.charCodeAt(0);
  if (first === dollar) return endOfName(text, 1) === text.length ? 'variable' : 'other';
  if (first === doubleQuote) return shapeInQuotes(text);
  if (first === singleQuote) return text.indexOf("'", 1) === text.length - 1 ? 'single' : 'other';
  return isPlain(text) ? 'plain' : 'other';
}

/** Returns the text of an argument of this shape if nothing in it is expanded. */
export function certainText(text: string, shape: WordShape): string | undefined {
  if (shape === 'plain') return text;
  return shape === 'double' || shape === 'single' ? text.slice(1, -1) : undefined;
}

/** Returns the end of a variable after `$`, written `name` or `{name}`; -1 if there is none or it has another form. */
export function endOfVariable(text: string, from: number): number {
  if (text.charCodeAt(from) !== openBrace) return endOfName(text, from);
  const end = endOfIdentifier(text, from + 1);
  return end > from + 1 && text.charCodeAt(end) === closeBrace ? end + 1 : -1;
}

/** Returns the end of the variable name that begins at `from`; -1 if there is none or it has another form. */
function endOfName(text: string, from: number): number {
  if (from >= text.length) return -1;
  const end = endOfIdentifier(text, from);
  if (end > from) return end;
  return isSpecial(text.charCodeAt(from)) ? from + 1 : -1;
}

/** Returns the end of the identifier that begins at `from`, or `from` if there is none. */
export function endOfIdentifier(text: string, from = 0): number {
  if (from >= text.length || kinds[text.charCodeAt(from)] !== nameStart) return from;
  let end = from + 1;
  while (end < text.length && isOfName(text.charCodeAt(end))) end++;
  return end;
}

function shapeInQuotes(text: string): WordShape {
  const last = text.length - 1;
  let shape: WordShape = 'double';
  for (let at = 1; at < last; at++) {
    const code = text.charCodeAt(at);
    if (code === doubleQuote || code === backtick || code === backslash) return 'other';
    if (code !== dollar) continue;
    const end = endOfVariable(text, at + 1);
    if (end < 0) return 'other';
    shape = at === 1 && end === last && text.charCodeAt(2) !== openBrace ? 'variable' : 'quoted';
    at = end - 1;
  }
  return last > 0 && text.charCodeAt(last) === doubleQuote ? shape : 'other';
}

const [doubleQuote, hash, dollar, singleQuote] = [0x22, 0x23, 0x24, 0x27];
const [question, at, backslash, backtick] = [0x3f, 0x40, 0x5c, 0x60];
const [openBrace, closeBrace, tilde] = [0x7b, 0x7d, 0x7e];

/** `$1`, `$@`, `$#` and `$?`. */
function isSpecial(code: number): boolean {
  return (isDigit(code) && code !== 0x30) || code === at || code === hash || code === question;
}

function isOfName(code: number): boolean {
  return kinds[code] === nameStart || isDigit(code);
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

const [plain, nameStart] = [1, 2];
/** For each ASCII character: `nameStart`, `plain` (literal everywhere in a word), or 0 (may be special). */
const kinds = new Uint8Array(128);
for (let code = 0; code < kinds.length; code++) {
  const character = String.fromCharCode(code);
  kinds[code] = /[A-Za-z_]/.test(character) ? nameStart : /[\d./:=@%+,-]/.test(character) ? plain : 0;
}

function isPlain(text: string): boolean {
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    // Bash expands a tilde at the beginning and after `name=`; elsewhere, as in HEAD~1, it is literal.
    if (!kinds[code] && (code !== tilde || at === 0 || text.includes('='))) return false;
  }
  return text !== '';
}
