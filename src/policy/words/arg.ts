/** A stretch of the command's text. */
export interface TextSpan {
  readonly pos: number;
  readonly end: number;
}

/** A part of a word that only bash will know: anything, a number, a file pattern, or a process's pipe. */
export interface Hole {
  readonly hole: 'unknown' | 'number' | 'glob' | 'process';
  /** How it is written; for a glob, the pattern. */
  readonly text: string;
  /** What a process substitution prints, when that is known. */
  readonly output?: string | undefined;
  /** The directory of which it names everything, as `$(ls)` does. */
  readonly listed?: string | undefined;
  /** Text of the command from which it is made in a way that is not followed; arithmetic may still evaluate it. */
  readonly from?: string | undefined;
}

/** A word is made of text that is certain and of holes. */
export type Piece = string | Hole;

/** One possible value of a variable. */
export type Value = readonly Piece[];

/** One word as a program will get it, as far as it can be known beforehand. */
export interface Arg extends TextSpan {
  readonly pieces: readonly Piece[];
  /** The whole word, when it is certain. */
  readonly text: string | undefined;
  /** True when bash may turn it into no word or into several. */
  readonly many: boolean;
}

/** Builds a word from its pieces. */
export function toArg(pieces: readonly Piece[], span: TextSpan, many = false): Arg {
  const [only] = pieces;
  if (pieces.length === 1 && typeof only === 'string' && !many) return knownArg(only, span);
  const merged = mergePieces(pieces);
  return { pieces: merged, text: textOf(merged), many, pos: span.pos, end: span.end };
}

/** A word whose text is certain. */
export function knownArg(text: string, span: TextSpan): Arg {
  return new KnownArg(text, span.pos, span.end);
}

/** Most words are certain and never asked for their pieces, so these are made when somebody does. */
class KnownArg implements Arg {
  readonly text: string;
  readonly many = false;
  readonly pos: number;
  readonly end: number;

  constructor(text: string, pos: number, end: number) {
    this.text = text;
    this.pos = pos;
    this.end = end;
  }

  get pieces(): readonly Piece[] {
    return [this.text];
  }
}

/** The hole for which nothing is known. */
export const unknown: Hole = { hole: 'unknown', text: '' };

/** A word of which nothing is known, not even whether it is one word. */
export function unknownArg(span: TextSpan, many = true): Arg {
  return { pieces: [unknown], text: undefined, many, pos: span.pos, end: span.end };
}

/** The text of pieces that hold no hole. */
export function textOf(pieces: readonly Piece[]): string | undefined {
  let text = '';
  for (const piece of pieces) {
    if (typeof piece !== 'string') return undefined;
    text += piece;
  }
  return text;
}

/** The text of a word, or nothing when there is no word or it is not known. */
export function wordText(arg: Arg | undefined): string {
  return arg?.text ?? '';
}

/** The beginning of the word that is certain. */
export function prefixOf(arg: Arg): string {
  const first = arg.text ?? arg.pieces[0];
  return typeof first === 'string' ? first : '';
}

/** The word without its first characters, which must be certain. */
export function withoutPrefix(arg: Arg, length: number): Arg {
  const [first, ...rest] = arg.pieces;
  return toArg([typeof first === 'string' ? first.slice(length) : '', ...rest], arg, arg.many);
}

/** True when the word begins with a dash or might. */
export function mayBeOption(arg: Arg): boolean {
  const first = arg.text ?? arg.pieces[0];
  if (first === undefined) return false;
  return typeof first === 'string' ? first.startsWith('-') : first.hole === 'unknown';
}

/**
 * The word as a file pattern: certain text with its special characters escaped, globs as written. Undefined when a
 * part of it is unknown.
 */
export function patternOf(arg: Arg): string | undefined {
  let pattern = '';
  for (const piece of arg.pieces) {
    if (typeof piece === 'string') pattern += piece.replace(/[*?[\]\\]/g, '\\$&');
    else if (piece.hole === 'glob') pattern += piece.text;
    else return undefined;
  }
  return pattern;
}

/** Whether bash would expand something in a text that it evaluates once more. */
export function mayExpand(text: string): boolean {
  return text.includes('$') || text.includes('`');
}

/** Whether there is such text in a piece, or behind it. */
export function mayExpandIn(piece: Piece): boolean {
  return mayExpand(textBehind(piece));
}

/** The text in a piece, or that it is made of: a pattern stays as it is where nothing matches. */
export function textBehind(piece: Piece): string {
  if (typeof piece === 'string') return piece;
  return piece.from ?? (piece.hole === 'glob' ? piece.text : '');
}

/** Whether a piece stands as it is: neither empty nor behind another text. */
function isApart(piece: Piece, index: number, pieces: readonly Piece[]): boolean {
  if (typeof piece !== 'string') return true;
  return pieces.length === 1 || (piece !== '' && (index === 0 || typeof pieces[index - 1] !== 'string'));
}

/** Joins neighbouring texts, so that the certain beginning is one piece. */
export function mergePieces(pieces: readonly Piece[]): readonly Piece[] {
  if (pieces.length > 0 && pieces.every(isApart)) return pieces;
  const merged: Piece[] = [];
  for (const piece of pieces) {
    const last = merged.at(-1);
    if (typeof piece === 'string' && typeof last === 'string') merged[merged.length - 1] = last + piece;
    else if (piece !== '') merged.push(piece);
  }
  return merged.length === 0 ? [''] : merged;
}
