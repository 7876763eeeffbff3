// Expands a word to the arguments a program receives:
// 1. Expand braces in the source text and parse each result again.
// 2. Replace a leading tilde with a home directory.
// 3. Expand every part to chunks of text and holes, in all possible forms, and walk its substitutions.
// 4. Join the chunks to words.

import type { Word, WordPart } from 'unbash';
import { withoutTrailing } from '../../support/without-trailing.ts';
import {
  type Arg,
  boundedFrom,
  foreignText,
  knownArg,
  type Piece,
  type TextSpan,
  textBehind,
  textOf,
  toArg,
  unknown,
  unknownArg,
  type Value,
} from '../words/arg.ts';
import { limits } from '../words/limits.ts';
import { everyProcess, type Output, placeListed, silent } from '../words/output.ts';
import { constantOf } from './constant-of.ts';
import { expandBraces } from './expand-braces.ts';
import { expandParameter, lookUp, parameterChunks } from './expand-parameter.ts';
import { certain, combine, type Expansion, expansionChunks } from './expansion.ts';
import { hasStrayParentheses, isUnparsed, refuseMisread } from './misread.ts';
import { parseScript } from './parse-script.ts';
import { quotedParts } from './quoted-parts.ts';
import { refuseInSh } from './refuse-in-sh.ts';
import { spanOf, type WalkScope } from './scope.ts';
import { type Chunk, joinChunks, wordBreak } from './split-fields.ts';
import { derivedHole, valuesOf } from './variable.ts';
import type { Walk } from './walk.ts';
import { certainText, shapeOf, type WordShape } from './word-shape.ts';

/** Expands an argument to words, in each of its possible forms. */
export function expandWord(walk: Walk, scope: WalkScope, word: Word): Arg[][] {
  const shape = shapeOf(word.text);
  const fixed = fixedArg(walk, scope, word, shape);
  return fixed === undefined ? expandParts(walk, scope, word, shape) : [[fixed]];
}

/** Like `expandWord`, for a word of this shape that contains an expansion. */
export function expandParts(walk: Walk, scope: WalkScope, word: Word, shape: WordShape): Arg[][] {
  walk.spend(1);
  if (shape === 'variable' && word.text.startsWith('"') && word.text !== '"$@"')
    return quotedArgs(lookUp(walk, scope, word.text.slice(2, -1)), scope.within ?? word);
  const span = spanOf(word, scope);
  if (shape === 'other' && hasBraces(word)) {
    const texts = expandBraces(word.text);
    // Bash leaves invalid braces such as `{a..3}` unchanged.
    if (texts.length !== 1 || texts[0] !== word.text) return expandBraced(walk, scope, word, texts, span);
  }
  const chunks = wordChunks({ walk, scope, mode: 'fields', span }, word, shape);
  return chunks.map((form) => joinChunks(form, span));
}

function quotedArgs(values: readonly Value[], span: TextSpan): Arg[][] {
  const [only] = values;
  if (values.length === 1 && only !== undefined) return [[toArg(only, span)]];
  return values.map((value) => [toArg(value, span)]);
}

function hasBraces({ text, parts }: Word): boolean {
  return text.includes('{') && parts?.some((part) => part.type === 'BraceExpansion') === true;
}

/** Returns the argument of a word without expansions; undefined if it contains one. */
export function fixedArg(walk: Walk, scope: WalkScope, word: Word, shape: WordShape): Arg | undefined {
  // `certainText` removes single quotes, which are literal after an operator in `${…}` but not here.
  const text = certainText(word.text, shape) ?? fixedText(word, shape);
  if (text === undefined) return undefined;
  walk.spend(1);
  if (shape !== 'plain') walk.literals.note(text);
  return knownArg(text, scope.within ?? word);
}

/** Expands a word that bash does not split, to each of its possible values. */
export function expandSingle(walk: Walk, scope: WalkScope, word: Word, quoted = false): Value[] {
  walk.spend(1);
  const shape = shapeOf(word.text);
  const fixed = fixedText(word, shape);
  if (fixed !== undefined) {
    if (shape !== 'plain') walk.literals.note(fixed);
    return [[fixed]];
  }
  const chunks = wordChunks({ walk, scope, mode: 'single', span: spanOf(word, scope) }, word, shape, quoted);
  // Several long values cost more than the one step counted above.
  const values = chunks.map(joined);
  for (const value of values.length > 1 ? values : []) walk.spend(value.length / 2);
  return values;
}

/** Returns the text of a word without expansions; undefined if it contains one. */
function fixedText(word: Word, shape: WordShape): string | undefined {
  const { text } = word;
  // unbash parses a word when `parts` is read, so avoid that for the common shapes.
  if (shape === 'plain') return text;
  if (shape === 'double') return text.slice(1, -1);
  if (shape === 'variable' || shape === 'quoted') return undefined;
  const { parts } = word;
  if (parts === undefined) return text === '' || /[~$`]/.test(text) ? undefined : word.value;
  return parts.every(isFixed) ? word.value : undefined;
}

function isFixed(part: WordPart): boolean {
  if (part.type === 'Literal') return !part.text.includes('~');
  return part.type === 'SingleQuoted' || (part.type === 'DoubleQuoted' && part.parts.every(isLiteral));
}

function isLiteral(part: WordPart): boolean {
  return part.type === 'Literal';
}

/** Expands the parts of a heredoc or a double-quoted string to each of their possible values. */
export function expandQuoted(
  walk: Walk,
  scope: WalkScope,
  parts: readonly WordPart[],
  span: TextSpan,
): Value[] {
  return product({ walk, scope, mode: 'single', span }, parts, true).map(joined);
}

function expandBraced(
  walk: Walk,
  scope: WalkScope,
  word: Word,
  texts: readonly string[],
  span: TextSpan,
): Arg[][] {
  const inner = scope.at(span);
  const words = texts.map(rereadWord);
  if (words.includes(undefined)) {
    const reason = `The command does not parse: the braces in ${word.text} cannot be expanded.`;
    walk.problems.push({ scope: 'always', rule: 'unparsable', reason, ...span });
  }
  return words.reduce<Arg[][]>(
    (forms, next) => {
      const more = next === undefined ? [] : expandWord(walk, inner, next);
      return combine(forms, more, concat, [unknownArg(span)]);
    },
    [[]],
  );
}

function rereadWord(text: string): Word | undefined {
  // Prevent a word that begins with # from being parsed as a comment.
  const script = parseScript(`: ${text.startsWith('#') ? `''${text}` : text}`);
  const command = script.commands[0]?.command;
  if (script.errors?.length || script.commands.length !== 1 || command?.type !== 'Command') return undefined;
  const [word, ...rest] = command.suffix;
  if (text === '') return { type: 'Word', text: '', value: '', pos: 0, end: 0 };
  return word?.type === 'Word' && rest.length === 0 ? word : undefined;
}

const anything: Chunk[] = [{ pieces: [unknown], quoted: false, many: true }];

function concat<T>(left: T[], right: T[]): T[] {
  return [...left, ...right];
}

function wordChunks(expansion: Expansion, word: Word, shape: WordShape, quoted = false): Chunk[][] {
  if (shape === 'variable') return variableChunks(expansion, word.text);
  if (shape === 'quoted' && !quoted) return doubleQuoted(expansion, quotedParts(word));
  if (isUnparsed(word)) refuseMisread(expansion.walk, word.text, expansion.span);
  const parts: readonly WordPart[] = word.parts ?? [
    { type: 'Literal', pos: word.pos, end: word.end, value: word.value, text: word.text },
  ];
  if (word.text === '') return [[]];
  const tilde = quoted ? undefined : tildeOf(expansion, parts);
  if (tilde === undefined) return product(expansion, parts, quoted);
  const [first, ...rest] = parts;
  const after = first?.type === 'Literal' ? first.value.slice(tilde.length) : '';
  const forms = tilde.values.map((value): Chunk[] => [certain([...value, after])]);
  return combine(forms, product(expansion, rest, false), concat, anything);
}

function variableChunks(expansion: Expansion, text: string): Chunk[][] {
  const quoted = text.startsWith('"');
  return parameterChunks(expansion, quoted ? text.slice(2, -1) : text.slice(1), quoted);
}

function tildeOf(
  { walk, scope }: Expansion,
  parts: readonly WordPart[],
): { length: number; values: readonly Value[] } | undefined {
  const first = parts[0];
  if (first?.type !== 'Literal') return undefined;
  // Bash also expands a tilde after `name=`, in arguments as well as in assignments.
  const [prefix, name = '', user] = /^([A-Za-z_]\w*=)?~([A-Za-z0-9_.+-]*)(?=\/|$)/.exec(first.text) ?? [];
  if (prefix === undefined || user === undefined || (prefix === first.text && parts.length > 1))
    return undefined;
  return { length: prefix.length, values: directoriesOf(walk, scope, user).map((value) => [name, ...value]) };
}

function directoriesOf(walk: Walk, scope: WalkScope, user: string): readonly Value[] {
  if (user === '') return homeOf(walk, scope);
  if (user === '+') return lookUp(walk, scope, 'PWD');
  if (user === '-') return lookUp(walk, scope, 'OLDPWD');
  if (/^[-+]?\d/.test(user)) return lookUp(walk, scope, 'DIRSTACK');
  return [[user === 'root' ? '/root' : `/home/${user}`]];
}

function homeOf(walk: Walk, scope: WalkScope): readonly Value[] {
  const home = scope.shell.variables.get('HOME');
  return home === undefined ? [[walk.home]] : valuesOf(home);
}

/** Returns all forms of a list of parts: every combination of their forms, within the limit. */
function product(expansion: Expansion, parts: readonly WordPart[], quoted: boolean): Chunk[][] {
  const [first] = parts;
  if (parts.length === 1 && first !== undefined) return chunksOf(expansion, first, quoted);
  let forms: Chunk[][] = [[]];
  for (const part of parts) {
    if (part.type === 'Literal' && forms.length === 1) {
      expansion.walk.literals.note(part.value);
      forms[0]?.push(part.value);
      continue;
    }
    const found = chunksOf(expansion, part, quoted);
    // In a long text the combinations of forms would multiply for no benefit.
    const next =
      found.length > 1 && parts.length > limits.formedParts ? [oneForm(found, part, quoted)] : found;
    const [form] = forms;
    const [only] = next;
    // A long text may have thousands of parts with one form each, so append those in place.
    if (forms.length === 1 && next.length === 1 && form !== undefined && only !== undefined)
      for (const chunk of only) form.push(chunk);
    else forms = combine(forms, next, concat, anything);
  }
  return forms;
}

/** Replaces several forms with one unknown piece derived from all their text. */
function oneForm(forms: readonly Chunk[][], part: WordPart, quoted: boolean): Chunk[] {
  let from: string | undefined;
  for (const form of forms)
    for (const chunk of form)
      for (const piece of piecesOf(chunk)) {
        const text = textBehind(piece);
        from = from === undefined ? text : `${from} ${text}`;
      }
  from ??= '';
  return [{ pieces: [{ hole: 'unknown', text: part.text, from }], quoted, many: !quoted }];
}

function piecesOf(chunk: Chunk): readonly Piece[] {
  if (typeof chunk === 'string') return [chunk];
  return chunk === wordBreak ? [] : chunk.pieces;
}

function chunksOf(expansion: Expansion, part: WordPart, quoted: boolean): Chunk[][] {
  const { walk, scope } = expansion;
  if (!isClosed(part)) {
    const reason = `The command does not parse: ${part.text.trim()} is not closed.`;
    walk.problems.push({ scope: 'always', rule: 'unparsable', reason, ...expansion.span });
  }
  switch (part.type) {
    case 'AnsiCQuoted':
      refuseInSh(walk, expansion.span, "$'…'", scope);
      walk.literals.note(part.value);
      return [[part.value]];
    case 'Literal':
    case 'SingleQuoted':
      walk.literals.note(part.value);
      return [[part.value]];
    case 'DoubleQuoted':
    case 'LocaleString':
      return doubleQuoted(expansion, part.parts);
    case 'SimpleExpansion':
      return parameterChunks(expansion, part.text.slice(1), quoted);
    case 'ParameterExpansion':
      return expandParameter(expansion, part, quoted);
    case 'CommandExpansion':
      return substitution(expansion, part, quoted);
    case 'ArithmeticExpansion':
      // With unbalanced parentheses bash may read it as commands in a subshell. The same applies if a comment hides the
      // end.
      if (hasStrayParentheses(part.text) || /[\s(;|&]#/.test(part.text))
        refuseMisread(walk, part.text, expansion.span);
      walk.arithmetic(part.expression, part.text, scope.at(expansion.span));
      return [[certain([constantOf(part.expression) ?? { hole: 'number', text: part.text }])]];
    case 'ProcessSubstitution':
      return [[certain([processHole(expansion, part)])]];
    case 'Glob':
    case 'ExtendedGlob':
    case 'BraceExpansion':
      return [[globChunk(expansion, part)]];
  }
}

/** Returns false for an expansion in a heredoc that lacks its closing mark; unbash accepts it, bash does not. */
function isClosed(part: WordPart): boolean {
  if (
    part.type !== 'CommandExpansion' &&
    part.type !== 'ParameterExpansion' &&
    part.type !== 'ArithmeticExpansion'
  )
    return true;
  const { text } = part;
  const last = text.charAt(text.length - 1);
  if (text.charAt(0) === '`') return text.length > 1 && last === '`';
  const open = text.charAt(1);
  return text.length > 2 && last === (open === '{' ? '}' : open === '(' ? ')' : ']');
}

function doubleQuoted(expansion: Expansion, parts: readonly WordPart[]): Chunk[][] {
  const only = parts.length === 1 ? parts[0] : undefined;
  // An empty "$@" expands to no word; every other quoted text is a word even if it is empty.
  const list = only?.text.includes('@') === true && /^\$\{?(@$|@\}|[A-Za-z_]\w*\[@\]\}|@:)/.test(only.text);
  const forms = product(expansion, parts, true);
  return list || forms.every(isWord) ? forms : forms.map((form) => (isWord(form) ? form : ['']));
}

function isWord(form: readonly Chunk[]): boolean {
  return form.length > 0;
}

function substitution(
  expansion: Expansion,
  part: Extract<WordPart, { type: 'CommandExpansion' }>,
  quoted: boolean,
): Chunk[][] {
  const { walk, scope, mode, span } = expansion;
  walk.spend(part.text.length / 2);
  if (part.script === undefined) return [[{ pieces: [unknown], quoted, many: !quoted }]];
  // A backtick script with escapes is parsed from its own `source`, so its positions are not those of the command.
  const inner = part.script.source === undefined ? scope : scope.at(span);
  const output = walk.capture(part.script, inner);
  return expansionChunks(expansion, outputValues(output, part.text), quoted || mode === 'single');
}

function outputValues(output: Output, written: string): Value[] {
  if (!output.more) return [[withoutNewlines(output.text)]];
  return output.forms?.map((text) => [withoutNewlines(text)]) ?? [[unknownOutput(output, written)]];
}

function withoutNewlines(text: string): string {
  return withoutTrailing(text, '\n');
}

function unknownOutput({ text, from, outside, made, operand }: Output, written: string): Piece {
  if (text === '' && from === undefined) return { hole: 'unknown', text: written, outside, made, operand };
  if (text === '')
    return { hole: 'unknown', text: written, from: derivedHole([from ?? '']).from, made, operand };
  const { from: derived = boundedFrom(text) } = derivedHole([text, from ?? '']);
  return { hole: 'unknown', text: written, from: derived, listed: placeListed(text), made, operand };
}

function processHole(
  { walk, scope }: Expansion,
  part: Extract<WordPart, { type: 'ProcessSubstitution' }>,
): Piece {
  walk.spend(part.text.length / 2);
  const output = part.script && walk.capture(part.script, scope);
  const read = part.operator === '<';
  const text = read && output?.more === false ? output.text : undefined;
  const listed = read && output?.more === true ? listedBy(output.text) : undefined;
  const { from: derived, made, operand } = (read ? output : undefined) ?? silent;
  const from = made === undefined ? derived : `${output?.text ?? ''}${derived ?? ''}`;
  return { hole: 'process', text: part.text, output: text, listed, from, made, operand };
}

/** The folder whose entries an output lists, or the mark of all processes. */
function listedBy(text: string): string | undefined {
  return text === everyProcess ? text.trim() : placeListed(text);
}

function globChunk(
  expansion: Expansion,
  part: Extract<WordPart, { type: 'Glob' | 'ExtendedGlob' | 'BraceExpansion' }>,
): Chunk {
  // Bash ends an extended glob at the first matching parenthesis, even one inside an expansion.
  if (part.type === 'ExtendedGlob' && hasStrayParentheses(part.text))
    refuseMisread(expansion.walk, part.text, expansion.span);
  // Bash evaluates expansions inside the pattern, so walk them; their values do not matter.
  const inside = part.parts?.flatMap((inner) => {
    if (inner.type === 'Literal' && isUnparsed(inner))
      refuseMisread(expansion.walk, part.text, expansion.span);
    return chunksOf(expansion, inner, true).flat().flatMap(piecesOf);
  });
  const dynamic = part.parts?.some(isDynamic) === true;
  const { from } = derivedHole(inside ?? []);
  const single = expansion.mode === 'single';
  if (part.type === 'BraceExpansion' || single)
    return dynamic || /['"\\]/.test(part.text)
      ? { pieces: [{ hole: 'unknown', text: part.text, from }], quoted: single, many: !single }
      : part.text;
  const text = part.type === 'ExtendedGlob' || dynamic ? '*' : part.text;
  // A file name is text from outside the command.
  const behind = part.type === 'ExtendedGlob' ? part.text : '';
  return {
    pieces: [{ hole: 'glob', text, from: foreignText + behind + (from ?? '') }],
    quoted: false,
    many: true,
  };
}

function isDynamic(part: WordPart): boolean {
  return part.type.endsWith('Expansion');
}

function joined(chunks: readonly Chunk[]): Value {
  const [only] = chunks;
  if (chunks.length === 1 && only !== undefined && only !== wordBreak) {
    if (typeof only === 'string') return [only];
    if (only.pieces.length === 1) return only.pieces;
  }
  const pieces: Piece[] = [];
  for (const chunk of chunks) {
    if (typeof chunk === 'string') pieces.push(chunk);
    else if (chunk === wordBreak) pieces.push(' ');
    else for (const piece of chunk.pieces) pieces.push(piece);
  }
  const text = textOf(pieces);
  return text === undefined ? pieces : [text];
}
