/** What the text of a word alone tells, without the parser's taking it apart. */
export type WordShape =
  /** It is what it is. */
  | 'plain'
  /** Text in one pair of quotes in which nothing is expanded. */
  | 'double'
  | 'single'
  /** One variable, with or without double quotes. */
  | 'variable'
  | 'other';

/** Tells the shape of a word. Every word of a command comes here, so the usual ones are told without a pattern. */
export function shapeOf(text: string): WordShape {
  const first = text.charCodeAt(0);
  if (first === dollar) return variable.test(text) ? 'variable' : 'other';
  if (first === doubleQuote) {
    if (double.test(text)) return 'double';
    return quotedVariable.test(text) ? 'variable' : 'other';
  }
  if (first === singleQuote) return single.test(text) ? 'single' : 'other';
  return isPlain(text) ? 'plain' : 'other';
}

/** The text of an argument in which nothing is expanded, as far as its own text tells. */
export function certainText(text: string): string | undefined {
  const shape = shapeOf(text);
  if (shape === 'plain') return text;
  return shape === 'double' || shape === 'single' ? text.slice(1, -1) : undefined;
}

const [doubleQuote, dollar, singleQuote] = [0x22, 0x24, 0x27];
const double = /^"[^"$`\\]*"$/;
const single = /^'[^']*'$/;
const variable = /^\$(?:[A-Za-z_]\w*|[1-9@#?])$/;
const quotedVariable = /^"\$(?:[A-Za-z_]\w*|[1-9@#?])"$/;

const plain = new Uint8Array(128);
for (let code = 0; code < plain.length; code++)
  plain[code] = /[\w./:=@%+,-]/.test(String.fromCharCode(code)) ? 1 : 0;

function isPlain(text: string): boolean {
  for (let at = 0; at < text.length; at++) if (plain[text.charCodeAt(at)] !== 1) return false;
  return text !== '';
}
