import { limits } from './limits.ts';

/** A range of the command's text: `pos` inclusive, `end` exclusive. */
export interface TextSpan {
  readonly pos: number;
  readonly end: number;
}

/** A part of a word that is known only at run time: any text (`$x`), a number (`$#`), a glob, or the path of `<(…)`. */
export interface Hole {
  readonly hole: 'unknown' | 'number' | 'glob' | 'process';
  /** The source text, such as `$x`; for a glob, the pattern. */
  readonly text: string;
  /** The output of a process substitution `<(…)`, if known. */
  readonly output?: string | undefined;
  /** The directory whose entries it lists, as `$(ls)` does. */
  readonly listed?: string | undefined;
  /** Command text that the hole is derived from in a way the walk does not follow; arithmetic may still evaluate it. */
  readonly from?: string | undefined;
  /** True if it contains no text of the command: a variable of the environment, numbers that a program prints. */
  readonly outside?: boolean | undefined;
  /** Set if a program makes it from text of the command, or if it is part of such text. */
  readonly made?: Made | undefined;
  /** True if no word of it begins with a dash, as with names of files, hashes and dates. */
  readonly operand?: boolean | undefined;
}

/** How text comes from the text of the command: `parts` of it, or `any` text that a filter may make from it. */
export type Made = 'parts' | 'any';

/** Part of a word: known text or a hole. */
export type Piece = string | Hole;

/** One possible value of a variable. */
export type Value = readonly Piece[];

/** One argument as a program will receive it, as far as that can be known. */
export interface Arg extends TextSpan {
  readonly pieces: readonly Piece[];
  /** The whole word, if it contains no hole. */
  readonly text: string | undefined;
  /** True if bash may split it into zero or several words. */
  readonly many: boolean;
}

/** Builds an `Arg` from its pieces. */
export function toArg(pieces: readonly Piece[], span: TextSpan, many = false): Arg {
  const [only] = pieces;
  if (pieces.length === 1 && typeof only === 'string' && !many) return knownArg(only, span);
  const merged = mergePieces(pieces);
  return { pieces: merged, text: textOf(merged), many, pos: span.pos, end: span.end };
}

/** Builds an `Arg` whose text is known. */
export function knownArg(text: string, span: TextSpan): Arg {
  return new KnownArg(text, span.pos, span.end);
}

/** Most words are known and `pieces` is never read, so the array is built on access. */
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

/** In `from`, stands for text from outside the command (a file, output of a program), which may contain any expansion. */
export const foreignText = '$\u{F0000}';

/** Applies `limits.textLength` to `from`; text that is cut off counts as foreign. */
export function boundedFrom(from: string): string {
  return from.length > limits.textLength ? foreignText + from.slice(0, limits.textLength) : from;
}

/** A hole about which nothing is known. */
export const unknown: Hole = { hole: 'unknown', text: '' };

/** An unknown value that does not come from the command. */
export const outside: Hole = { hole: 'unknown', text: '', outside: true };

/** An `Arg` about which nothing is known, not even the number of words. */
export function unknownArg(span: TextSpan, many = true): Arg {
  return { pieces: [unknown], text: undefined, many, pos: span.pos, end: span.end };
}

/** Joins pieces to a text; undefined if one of them is a hole. */
export function textOf(pieces: readonly Piece[]): string | undefined {
  let text = '';
  for (const piece of pieces) {
    if (typeof piece !== 'string') return undefined;
    text += piece;
  }
  return text;
}

/** The text of a word, or '' if the word is missing or unknown. */
export function wordText(arg: Arg | undefined): string {
  return arg?.text ?? '';
}

/** The known text that the word begins with: `--x=` for `--x=$y`. */
export function prefixOf(arg: Arg): string {
  const first = arg.text ?? arg.pieces[0];
  return typeof first === 'string' ? first : '';
}

/** The word without its first `length` characters, which must be known text. */
export function withoutPrefix(arg: Arg, length: number): Arg {
  const [first, ...rest] = arg.pieces;
  return toArg([typeof first === 'string' ? first.slice(length) : '', ...rest], arg, arg.many);
}

/** Returns true if the word begins with `-` or might do so. */
export function mayBeOption(arg: Arg): boolean {
  const first = arg.text ?? arg.pieces[0];
  if (first === undefined) return false;
  return typeof first === 'string' ? first.startsWith('-') : first.hole === 'unknown';
}

/** The pieces after variables and output at the beginning that may be empty. */
function afterEmpty(pieces: readonly Piece[]): readonly Piece[] {
  const at = pieces.findIndex(
    (piece) => typeof piece === 'string' || isForeign(piece) || piece.hole !== 'unknown',
  );
  return at <= 0 ? pieces : pieces.slice(at);
}

function isForeign({ from, made, operand }: Hole): boolean {
  return made !== undefined || (operand !== true && from?.includes(foreignText) === true);
}

/**
 * The word if its unknown parts are empty, as an unset variable is: `--x` for `"$y--x"`. Undefined if that does not
 * change how a program parses it: only options, addresses with a helper (`ext::x`) and `of=x` differ.
 */
export function emptied(arg: Arg): Arg | undefined {
  const { pieces } = arg;
  const [first] = pieces;
  if (arg.text !== undefined || first === undefined || !pieces.every(mayBeEmpty)) return undefined;
  const text = pieces.filter((piece) => typeof piece === 'string').join('');
  const isReadDifferently =
    typeof first === 'object' ? /^(?:[-+]|\w+::|of=)/.test(text) : text !== first && /^-[\w-]*$/.test(first);
  return isReadDifferently ? knownArg(text, arg) : undefined;
}

function mayBeEmpty(piece: Piece): boolean {
  return typeof piece === 'string' || piece.hole === 'unknown';
}

/** Returns true if the word may begin with `-` because of what a program makes from the command's own text. */
export function mayBeMadeOption({ pieces }: Arg): boolean {
  const [first, second] = afterEmpty(pieces);
  const hole = first === '-' || first === '--' ? second : first;
  if (typeof hole !== 'object' || hole.made === undefined) return false;
  return hole.made === 'any' || /(?:^|[^\w])-|--/.test(hole.from ?? '');
}

/** Returns true if the word comes from a file or a program, and may be an option or complete one. */
export function mayBeForeignOption({ pieces, many }: Arg): boolean {
  if (many && typeof pieces[0] === 'string' && pieces.some(hasForeignWord)) return true;
  const [first, second] = afterEmpty(pieces);
  const hole = typeof first === 'string' && /^-[\w-]*$/.test(first) ? second : first;
  if (typeof hole !== 'object' || hole.hole !== 'unknown' || hole.made !== undefined) return false;
  // After a known dash, even text without a dash completes the name of an option.
  return (first !== hole || hole.operand !== true) && hole.from?.includes(foreignText) === true;
}

/**
 * Returns true for text from outside that bash may split into several words, of which one may be an option. A version is taken to be
 * one word.
 */
function hasForeignWord(piece: Piece): boolean {
  if (typeof piece !== 'object' || piece.hole !== 'unknown' || !isForeign(piece)) return false;
  return piece.made === undefined && !/version/i.test(piece.text);
}

/** Returns true for a pattern of names that begin with a dash, such as `-*` or `[-]o*`, but not for `--include=*.ts`. */
export function isOptionGlob({ pieces: [first, second] }: Arg): boolean {
  if (typeof first === 'string')
    return typeof second === 'object' && second.hole === 'glob' && /^-[\w-]*$/.test(first);
  return first?.hole === 'glob' && /^\[(?:-|[^!^\]][^\]]*-\])/.test(first.text);
}

/** Returns true if a part of the word is made from the command's own text, and may be a command of `sed` or `awk`. */
export function mayBecomeCode({ pieces }: Arg): boolean {
  return pieces.some(
    (piece) =>
      typeof piece === 'object' &&
      piece.made !== undefined &&
      (piece.made === 'any' || /[a-z]/i.test(piece.from ?? '')),
  );
}

/** The text of the command from which a filter makes the piece; undefined if there is none. */
export function ownText(piece: Piece | undefined): string | undefined {
  return typeof piece === 'object' && piece.made === 'any'
    ? piece.from?.replaceAll(foreignText, '')
    : undefined;
}

/** The word as a glob pattern: known text escaped, globs as written. Undefined if a part is unknown. */
export function patternOf(arg: Arg): string | undefined {
  let pattern = '';
  for (const piece of arg.pieces) {
    if (typeof piece === 'string') pattern += piece.replace(/[*?[\]\\]/g, '\\$&');
    else if (piece.hole === 'glob') pattern += piece.text;
    else return undefined;
  }
  return pattern;
}

/** Replaces the number of a process in `/proc/$$/root`, which may be any. */
export function withProcess(arg: Arg): Arg {
  const [first] = arg.pieces;
  if (typeof first !== 'string' || !first.startsWith('/proc/')) return arg;
  return toArg(
    arg.pieces.map((piece) => (typeof piece === 'object' && piece.hole === 'number' ? '1' : piece)),
    arg,
    arg.many,
  );
}

/** Returns true if bash would expand something in `text` when it evaluates it again. */
export function mayExpand(text: string): boolean {
  return text.includes('$') || text.includes('`');
}

/** Returns true if `mayExpand` is true for the piece or the text it is derived from. */
export function mayExpandIn(piece: Piece): boolean {
  return mayExpand(textBehind(piece));
}

/** The text of a piece, or the text it is derived from; a glob that matches nothing stays as written. */
export function textBehind(piece: Piece): string {
  if (typeof piece === 'string') return piece;
  return piece.from ?? (piece.hole === 'glob' ? piece.text : '');
}

/** Returns true if `mergePieces` would leave the piece unchanged. */
function isMerged(piece: Piece, index: number, pieces: readonly Piece[]): boolean {
  if (typeof piece !== 'string') return true;
  return pieces.length === 1 || (piece !== '' && (index === 0 || typeof pieces[index - 1] !== 'string'));
}

/** Joins adjacent texts, so that the known prefix is one piece. */
export function mergePieces(pieces: readonly Piece[]): readonly Piece[] {
  if (pieces.length > 0 && pieces.every(isMerged)) return pieces;
  const merged: Piece[] = [];
  for (const piece of pieces) {
    const last = merged.at(-1);
    if (typeof piece === 'string' && typeof last === 'string') merged[merged.length - 1] = last + piece;
    else if (piece !== '') merged.push(piece);
  }
  return merged.length === 0 ? [''] : merged;
}
