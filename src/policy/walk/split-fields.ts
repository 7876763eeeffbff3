import {
  type Arg,
  foreignText,
  type Hole,
  knownArg,
  type Piece,
  type TextSpan,
  toArg,
} from '../words/arg.ts';

/** Part of a word during expansion; a string is known text that bash does not split. */
export type Chunk =
  | string
  | { readonly pieces: readonly Piece[]; readonly quoted: boolean; readonly many: boolean }
  | typeof wordBreak;

/** Separates two words. */
export const wordBreak: unique symbol = Symbol('break');

/** Splits the value of an unquoted expansion into words, as bash does with this `IFS`. */
export function splitFields(pieces: readonly Piece[], ifs: string): Chunk[] {
  return pieces.flatMap((piece) =>
    typeof piece === 'string'
      ? splitText(piece, ifs)
      : [{ pieces: [splitHole(piece, ifs)], quoted: false, many: isMany(piece) }],
  );
}

/** Removes `operand` and the name of a file if IFS has a separator that is not a blank: the word after it may begin with a dash. */
function splitHole(hole: Hole, ifs: string): Hole {
  if (!/\S/.test(ifs)) return hole;
  if (hole.hole === 'glob') return { hole: 'unknown', text: '', from: foreignText };
  return hole.operand ? { ...hole, operand: undefined } : hole;
}

/** Joins chunks to words; `wordBreak` ends a word. */
export function joinChunks(chunks: readonly Chunk[], span: TextSpan): Arg[] {
  const [only] = chunks;
  if (chunks.length === 1 && only !== undefined) return oneWord(only, span);
  if (chunks.length > 0 && chunks.every(isText)) return [knownArg(chunks.join(''), span)];
  let words: Arg[] | undefined;
  let pieces: Piece[] | undefined;
  let many = false;
  for (const chunk of chunks) {
    if (chunk === wordBreak) {
      words ??= [];
      if (pieces !== undefined) words.push(toArg(pieces, span, many));
      pieces = undefined;
      many = false;
    } else if (typeof chunk === 'string') {
      pieces ??= [];
      pieces.push(chunk);
    } else if (chunk.quoted || chunk.pieces.length > 0) {
      pieces ??= [];
      for (const piece of chunk.pieces) pieces.push(piece);
      many ||= chunk.many;
    }
  }
  const last = pieces === undefined ? undefined : toArg(pieces, span, many);
  if (words === undefined) return last === undefined ? [] : [last];
  if (last !== undefined) words.push(last);
  return words;
}

function isText(chunk: Chunk): chunk is string {
  return typeof chunk === 'string';
}

function oneWord(chunk: Chunk, span: TextSpan): Arg[] {
  if (typeof chunk === 'string') return [knownArg(chunk, span)];
  if (chunk === wordBreak || (!chunk.quoted && chunk.pieces.length === 0)) return [];
  return [toArg(chunk.pieces, span, chunk.many)];
}

function isMany(hole: Hole): boolean {
  return hole.hole === 'unknown' || hole.hole === 'glob';
}

function splitText(text: string, ifs: string): Chunk[] {
  const chunks: Chunk[] = [];
  let field = '';
  const flush = (): void => {
    const pieces = globPieces(field);
    const many = pieces.some((piece) => typeof piece !== 'string');
    if (field !== '') chunks.push({ pieces, quoted: false, many });
    field = '';
  };
  // A non-blank separator at the beginning follows an empty word.
  let justBroke = true;
  for (const character of text) {
    if (!ifs.includes(character)) {
      field += character;
      justBroke = false;
      continue;
    }
    flush();
    const blank = ' \t\n'.includes(character);
    // Two adjacent non-blank separators enclose an empty word.
    if (!blank && justBroke) chunks.push('');
    chunks.push(wordBreak);
    justBroke = !blank;
  }
  flush();
  return chunks;
}

/** Splits the text of an unquoted expansion at its glob characters, which are patterns there. */
function globPieces(text: string): Piece[] {
  return text
    .split(text.includes(']') ? /(\*|\?|\[[^\][]+\])/ : /([*?])/)
    .filter((part) => part !== '')
    .map((part) => (/^[*?]$|^\[.+\]$/s.test(part) ? { hole: 'glob', text: part, from: foreignText } : part));
}
