import type { ParameterExpansionPart, ParameterOperation, Word, WordPart } from 'unbash';
import { decodeEscapes } from '../programs/decode-escapes.ts';
import {
  boundedFrom,
  foreignText,
  mayExpand,
  outside,
  type Piece,
  textBehind,
  textOf,
  unknown,
  type Value,
} from '../words/arg.ts';
import { escapeGlob } from '../words/glob.ts';
import { limits } from '../words/limits.ts';
import { hasOptionWord } from '../words/output.ts';
import { isSetByBash } from '../words/set-by-bash.ts';
import { evaluateExpression, evaluateKey } from './evaluate-expression.ts';
import { certain, type Expansion, expansionChunks } from './expansion.ts';
import { entryAt } from './list-entries.ts';
import { refuseMisread } from './misread.ts';
import { perhapsPath } from './perhaps-path.ts';
import type { WalkScope } from './scope.ts';
import type { Shell } from './shell.ts';
import { type Chunk, wordBreak } from './split-fields.ts';
import { transformText } from './transform-text.ts';
import {
  bounded,
  derivedHole,
  everyValue,
  takenHole,
  textIfKnown,
  type Variable,
  valuesOf,
} from './variable.ts';
import type { Walk } from './walk.ts';

const numbers = new Set([
  '#',
  '?',
  '$',
  '!',
  'UID',
  'EUID',
  'PPID',
  'BASHPID',
  'RANDOM',
  'SRANDOM',
  'SECONDS',
  'LINENO',
]);

/** Expands `$name` to chunks. */
export function parameterChunks(expansion: Expansion, name: string, quoted: boolean): Chunk[][] {
  if (name === '@' || name === '*') return listChunks(expansion, positionalOf(expansion), quoted, name);
  return expansionChunks(expansion, lookUp(expansion.walk, expansion.scope, name), quoted);
}

/** Expands `${name…}` to chunks, with its operator applied. */
export function expandParameter(
  expansion: Expansion,
  part: ParameterExpansionPart,
  quoted: boolean,
): Chunk[][] {
  const index = part.index?.text;
  const list = part.parameter === '@' || part.parameter === '*' || index === '@' || index === '*';
  if (part.index !== undefined && index !== '@' && index !== '*')
    evaluateKey(expansion.walk, part.parameter, part.index, expansion.span, expansion.scope);
  if (part.prefix === '#') return [[certain([{ hole: 'number', text: part.text }])]];
  if (part.prefix === '!') return indirect(expansion, part, quoted);
  if (list && (part.operation === undefined || part.operation.type === 'Slice')) {
    const slice = sliceOf(expansion, part);
    if (slice === undefined) return someEntries(expansion, part, quoted);
    return listChunks(expansion, slice, quoted, index ?? part.parameter);
  }
  const entries = list ? changedEntries(expansion, part) : undefined;
  if (entries !== undefined) {
    const changed = applyOperation(expansion, part, entries, quoted);
    const words = changed.map((pieces) => ({ pieces, many: false }));
    return listChunks(expansion, words, quoted, index ?? part.parameter);
  }
  const base = list ? [[anyEntry(expansion, part)]] : baseValues(expansion, part);
  return expansionChunks(expansion, bounded(applyOperation(expansion, part, base, quoted)), quoted);
}

/** The entries of a known list, if the operation changes each of them by itself, as `${a[@]/#/x}` does. */
function changedEntries(expansion: Expansion, part: ParameterExpansionPart): readonly Value[] | undefined {
  const { operation } = part;
  const isEach =
    operation?.type === 'Remove' || operation?.type === 'Replace' || operation?.type === 'CaseModification';
  const entries = isEach ? listOf(expansion, part) : undefined;
  if (entries === undefined || entries.length > limits.values || entries.some(({ many }) => many))
    return undefined;
  return entries.map(({ pieces }) => pieces);
}

/** Returns the chunks of a slice whose bounds cannot be determined. */
function someEntries(expansion: Expansion, part: ParameterExpansionPart, quoted: boolean): Chunk[][] {
  const other = { pieces: [anyEntry(expansion, part)], many: true };
  const known = listOf(expansion, part) ?? [];
  // All entries are more than the slice has, and an unknown one comes first, so that none of them counts as certain.
  return listChunks(expansion, [other, ...known.slice(0, limits.values)], quoted, '@');
}

function anyEntry({ scope: { shell } }: Expansion, part: ParameterExpansionPart): Piece {
  if (part.index === undefined) return shell.someArgument();
  const variable = shell.variables.get(part.parameter);
  if (variable === undefined) return outside;
  if (variable.kind === 'list' && !variable.entries.mayExpand && !variable.entries.hasDash) return unknown;
  return listedIn(everyValue(variable)) ?? anyOf(everyValue(variable));
}

/** One of the values, or a part of it; a single unknown value stays as it is. */
function anyOf(values: readonly Value[]): Piece {
  const pieces = values.flat();
  const [only, ...others] = pieces;
  if (typeof only === 'object' && others.length === 0) return only;
  const hole = takenHole(pieces);
  // Bash sets MAPFILE and REPLY itself, so their values are never certain; the danger rules need the path that was read.
  const path = pieces.map(textBehind).find(isPath);
  return path === undefined
    ? hole
    : { ...hole, from: hole.from === undefined ? path : `${path} ${hole.from}` };
}

function isPath(text: string): boolean {
  return text.startsWith('/') && text.length < 64;
}

/** Entries that `mapfile` read from the listing of a directory. */
function listedIn(values: readonly Value[]): Piece | undefined {
  return values.flat().find((piece) => typeof piece === 'object' && piece.listed !== undefined);
}

function baseValues(expansion: Expansion, part: ParameterExpansionPart): readonly Value[] {
  if (part.index === undefined) return lookUp(expansion.walk, expansion.scope, part.parameter);
  const variable = expansion.scope.shell.variables.get(part.parameter);
  if (variable === undefined && folders.has(part.parameter))
    return lookUp(expansion.walk, expansion.scope, part.parameter);
  if (part.parameter === 'FUNCNAME' && part.index.text === '0')
    return lookUp(expansion.walk, expansion.scope, 'FUNCNAME');
  if (variable?.kind !== 'list') return [[variable === undefined ? unknown : anyOf(variable.values)]];
  const keys = expansion.walk.single(part.index, expansion.scope).map(textOf);
  const found = keys.map((key) => (key === undefined ? undefined : entryAt(variable.entries, key)));
  if (found.every((value) => value !== undefined) && variable.complete)
    return found.flatMap((value) => (value ? [value] : []));
  return [...variable.entries.values, [unknown]];
}

/** Returns the possible values of a variable, or of a parameter such as `1` or `0`. */
export function lookUp(walk: Walk, scope: WalkScope, writtenName: string): readonly Value[] {
  const name = scope.shell.defined.namerefs.get(writtenName) ?? writtenName;
  if (name === '') return [[unknown]];
  if (isNumber(name)) return positionalValue(scope.shell, Number(name));
  if (name === '0') return [[scope.shell.arg0 ?? unknown]];
  const variable = scope.shell.variables.get(name);
  if (variable !== undefined) return valuesOf(variable);
  if (numbers.has(name)) return [[{ hole: 'number', text: `$${name}` }]];
  if (name === 'FUNCNAME') return [[scope.frames.at(-1)?.name ?? unknown]];
  if (name === 'IFS') return [[' \t\n']];
  if (name === 'BASH') return [['/bin/bash']];
  if (name === 'SHELL') return [['/bin/bash'], [unknown]];
  if (name === 'HOME') return [[walk.home]];
  if (name === 'PWD' && scope.shell.cwd !== undefined) return scope.shell.cwd.map((path) => [path]);
  if (folders.has(name)) {
    const { previous, stacked } = scope.shell;
    const from = [foreignText, ...(name === 'OLDPWD' ? previous : name === 'DIRSTACK' ? stacked : [])].join(
      ' ',
    );
    return [[{ hole: 'unknown', text: `$${name}`, from, operand: true }]];
  }
  return [[{ hole: 'unknown', text: `$${name}`, outside: !isSetByBash(name) }]];
}

/** Variables with the path of a folder. After the first slash, it may be any text. */
const folders = new Set(['PWD', 'OLDPWD', 'DIRSTACK']);

function isNumber(name: string): boolean {
  const first = name.charCodeAt(0);
  return first > 0x30 && first <= 0x39 && /^\d+$/.test(name);
}

function positionalValue({ positional, spread, anyArgument }: Shell, index: number): readonly Value[] {
  if (positional === undefined)
    return spread === undefined
      ? [[anyArgument]]
      : bounded([...spread.map(({ pieces }) => pieces), [anyArgument]]);
  return [positional[index - 1]?.pieces ?? ['']];
}

type List = readonly { readonly pieces: readonly Piece[]; readonly many: boolean }[] | undefined;

function positionalOf({ scope }: Expansion): List {
  const { positional, spread, anyArgument } = scope.shell;
  return positional ?? spread ?? [{ pieces: [anyArgument], many: true }];
}

function listOf(expansion: Expansion, part: ParameterExpansionPart, start = 0, end?: number): List {
  if (part.index === undefined)
    return expansion.scope.shell.positional?.slice(start, end) ?? positionalOf(expansion);
  const variable: Variable | undefined = expansion.scope.shell.variables.get(part.parameter);
  if (variable?.kind === 'list') {
    const entries = variable.entries.values.slice(start, end).map((pieces) => ({ pieces, many: false }));
    if (variable.complete) return entries;
    const others = { pieces: [unknown], many: true };
    return [others, ...entries, others];
  }
  if (variable === undefined) return undefined;
  const only = textIfKnown(variable);
  if (only === undefined) return [{ pieces: [anyOf(everyValue(variable))], many: true }];
  return [{ pieces: [only], many: false }].slice(start, end);
}

function sliceOf(expansion: Expansion, part: ParameterExpansionPart): List {
  if (part.operation?.type !== 'Slice') return listOf(expansion, part);
  if (hasGaps(expansion, part)) return undefined;
  const from = numberOf(expansion, part.operation.offset);
  const count = part.operation.length && numberOf(expansion, part.operation.length);
  if (from === undefined || (part.operation.length && count === undefined)) return undefined;
  const start = startOf(expansion, part, from);
  if (start === undefined || (count !== undefined && count < 0)) return undefined;
  return listOf(expansion, part, start, count === undefined ? undefined : start + count);
}

/** The position of the first entry of a slice; a negative offset counts from the end of a list that is known. */
function startOf(
  { scope: { shell } }: Expansion,
  part: ParameterExpansionPart,
  from: number,
): number | undefined {
  if (from >= 0) return part.index === undefined ? Math.max(from - 1, 0) : from;
  const variable = part.index && shell.variables.get(part.parameter);
  const length =
    part.index === undefined
      ? shell.positional?.length
      : variable?.kind === 'list' && variable.complete
        ? variable.entries.values.length
        : undefined;
  return length === undefined || length + from < 0 ? undefined : length + from;
}

/** A slice counts subscripts, which equal positions in `entries` only if all are known and none is missing. */
function hasGaps({ scope }: Expansion, part: ParameterExpansionPart): boolean {
  const variable = part.index && scope.shell.variables.get(part.parameter);
  if (variable?.kind !== 'list') return false;
  return !variable.complete || variable.entries.keys !== undefined;
}

function numberOf(expansion: Expansion, word: Word): number | undefined {
  const text = knownText(evaluateWord(expansion, word));
  return text !== undefined && /^\s*-?(?:0|[1-9]\d{0,8})\s*$/.test(text) ? Number(text) : undefined;
}

function listChunks(expansion: Expansion, list: List, quoted: boolean, sign: string): Chunk[][] {
  if (list === undefined) return [[{ pieces: [unknown], quoted: false, many: true }]];
  const separator: Chunk = sign === '*' && quoted ? ' ' : wordBreak;
  const chunks: Chunk[] = [];
  let first = true;
  for (const { pieces, many } of list) {
    if (!first) chunks.push(separator);
    first = false;
    if (many) chunks.push({ pieces, quoted: false, many });
    // An assignment splits nothing, so that a newline in an entry stays one.
    else chunks.push(...expansion.walk.split(pieces, quoted || expansion.mode === 'single', expansion.scope));
  }
  return [chunks];
}

function indirect(expansion: Expansion, part: ParameterExpansionPart, quoted: boolean): Chunk[][] {
  if (part.operation?.type === 'Names') return [[{ pieces: [unknown], quoted: false, many: true }]];
  if (part.parameter === '#') {
    const last = expansion.scope.shell.positional?.at(-1)?.pieces ?? [expansion.scope.shell.anyArgument];
    return expansionChunks(expansion, bounded(applyOperation(expansion, part, [last], quoted)), quoted);
  }
  if (part.index !== undefined) {
    applyOperation(expansion, part, [[unknown]], quoted);
    return [[{ pieces: [someKey(expansion, part.parameter)], quoted: false, many: true }]];
  }
  const values = lookUp(expansion.walk, expansion.scope, part.parameter).flatMap(
    (value): readonly Value[] => {
      const name = textOf(value);
      // The name may contain a subscript, which bash evaluates.
      expansion.walk.evaluate(name ?? value, 'name', expansion.span, expansion.scope);
      if (name === undefined) return [[unknown]];
      return /^\w+$/.test(name) ? lookUp(expansion.walk, expansion.scope, name) : [[unknown]];
    },
  );
  return expansionChunks(expansion, bounded(applyOperation(expansion, part, values, quoted)), quoted);
}

/** One of the keys of an array, as `${!a[@]}` lists them. */
function someKey({ scope: { shell } }: Expansion, name: string): Piece {
  const variable = shell.variables.get(name);
  const keys = variable?.kind === 'list' ? variable.entries.keys : undefined;
  return keys?.some((key) => /[-/]/.test(key))
    ? { ...takenHole(keys), from: boundedFrom(keys.join(' ')) }
    : unknown;
}

function applyOperation(
  expansion: Expansion,
  part: ParameterExpansionPart,
  base: readonly Value[],
  quoted: boolean,
): readonly Value[] {
  const operation = part.operation;
  if (operation === undefined) return base;
  if (operation.type === 'Default') return defaulted(expansion, part, operation, base, quoted);
  if (operation.type === 'Transform') return transformed(expansion, operation, base);
  if (operation.type === 'Unknown') {
    const reason = `The command does not parse: ${part.text} is not a valid expansion.`;
    expansion.walk.problems.push({ scope: 'always', rule: 'unparsable', reason, ...expansion.span });
    return [[unknown]];
  }
  const { texts, added } = operandsOf(expansion, operation, quoted);
  return withSamples(part, base).map((value) => {
    const text = textOf(value);
    const result = text === undefined ? undefined : transformText(text, operation, texts);
    if (result === undefined && keepsDigits(part.text)) return [outside];
    if (result !== undefined) return [result];
    const trimmed = withoutEnding(value, operation, texts);
    if (trimmed !== undefined) return trimmed;
    const path = perhapsPath(value, part.parameter, operation, texts);
    if (path !== undefined) return [{ ...takenHole(value), from: path }];
    return [
      keepsBeginning(value, operation, texts)
        ? { ...derivedHole(value), operand: true }
        : takenHole(isSeparator(value, added) ? value : [...value, ...added]),
    ];
  });
}

/** Adds the home of an ordinary user to that of root: `${HOME%/*}` is empty for `/root`, and `/home` for others. */
function withSamples({ parameter, index }: ParameterExpansionPart, base: readonly Value[]): readonly Value[] {
  const isRoots = parameter === 'HOME' && index === undefined && base.length === 1;
  return isRoots && base[0]?.length === 1 && base[0][0] === '/root' ? [...base, ['/home/user']] : base;
}

/** Removes known text from the end of a value whose beginning is unknown: `${d%/}` after a glob. */
function withoutEnding(
  value: Value,
  operation: ParameterOperation,
  [pattern]: readonly (string | undefined)[],
): Value | undefined {
  const last = value.at(-1);
  if (operation.type !== 'Remove' || !operation.operator.startsWith('%')) return undefined;
  if (typeof last !== 'string' || pattern === undefined || escapeGlob(pattern) !== pattern) return undefined;
  if (last.endsWith(pattern)) return [...value.slice(0, -1), last.slice(0, last.length - pattern.length)];
  return last.length < pattern.length ? undefined : value;
}

/** Returns true for `${x//[^a-z]/-}`, whose dash cannot complete an option if no text of the command is in `x`. */
function isSeparator(value: Value, added: Value): boolean {
  return textOf(added) === '-' && value.every((piece) => typeof piece === 'object');
}

/** Returns true if no word of the result begins with a dash, because no word of the value does and `operation` keeps their beginnings. */
function keepsBeginning(
  value: Value,
  operation: ParameterOperation,
  [pattern, replacement]: readonly (string | undefined)[],
): boolean {
  const [first] = value;
  const hasNoDash =
    typeof first === 'object'
      ? first.operand === true || first.hole === 'glob'
      : first !== undefined && /^[^-]/.test(first);
  if (!hasNoDash || pattern === undefined || value.some(hasOption)) return false;
  if (operation.type === 'Remove') return operation.operator.startsWith('%') || pattern.endsWith('/');
  if (operation.type === 'Slice') return pattern.trim() === '0';
  if (operation.type === 'Replace') return replacement !== undefined && /^[^-\s][^\s]*$/.test(replacement);
  return operation.type === 'CaseModification';
}

/** Returns true for `${x//[^0-9]/}` and similar operations that leave only digits. */
function keepsDigits(text: string): boolean {
  return /^\$\{\w+(?:\/\/\[[!^](?:0-9|\[:digit:\])\]\/?|%%\[[!^]0-9\]\*|##\*\[[!^]0-9\])\}$/.test(text);
}

function hasOption(piece: Piece): boolean {
  return typeof piece === 'string' && hasOptionWord(piece);
}

/** The texts of the operands in order, undefined for an unknown one, and the text that the operation adds. */
interface Operands {
  readonly texts: readonly (string | undefined)[];
  readonly added: Value;
}

function operandsOf(expansion: Expansion, operation: ParameterOperation, quoted: boolean): Operands {
  const values = (word: Word | undefined): readonly Value[] =>
    word === undefined ? [['']] : expansion.walk.single(word, expansion.scope, quoted);
  switch (operation.type) {
    case 'Remove':
    case 'CaseModification':
      return { texts: [asPattern(operation.operand, knownText(values(operation.operand)))], added: [] };
    case 'Replace': {
      const pattern = asPattern(operation.pattern, knownText(values(operation.pattern)));
      const replacement = values(operation.replacement);
      return { texts: [pattern, knownText(replacement)], added: replacement.flat() };
    }
    case 'Slice': {
      const offset = knownText(evaluateWord(expansion, operation.offset));
      const length =
        operation.length === undefined ? 'rest' : knownText(evaluateWord(expansion, operation.length));
      return { texts: [offset, length], added: [] };
    }
    default:
      return { texts: [], added: [] };
  }
}

/** Returns undefined for a pattern with quoted or escaped special characters, which `transformText` does not support. */
function asPattern(word: Word | undefined, text: string | undefined): string | undefined {
  return text !== undefined && /[*?[(\\]/.test(text) && word?.text !== text ? undefined : text;
}

function defaulted(
  expansion: Expansion,
  part: ParameterExpansionPart,
  operation: Extract<ParameterOperation, { type: 'Default' }>,
  base: readonly Value[],
  quoted: boolean,
): readonly Value[] {
  const operand = defaultValues(expansion, operation.operand, quoted);
  const sign = operation.operator.replace(':', '');
  // Bash expands the message of `${x?message}` as if it were not in quotes.
  if (sign === '?' && quoted && /[<>]\(/.test(operation.operand.text))
    refuseMisread(expansion.walk, operation.operand.text, expansion.span);
  const colon = operation.operator.startsWith(':');
  if (sign === '?') return colon ? base.map((value) => notEmpty(value, part.text)) : base;
  const values: Value[] = [];
  for (const value of base) {
    const text = textOf(value);
    const missing = colon && text === '';
    const replaced = sign === '+' ? !missing : missing;
    if (text === undefined || !replaced) values.push(sign === '+' ? [''] : value);
    // An argument that was not passed is empty here, and `${1-x}` distinguishes the two.
    if (text === undefined || replaced || (text === '' && !colon && sign !== '+')) values.push(...operand);
  }
  if (sign === '=') {
    expansion.walk.assign(
      part.parameter,
      { kind: 'text', values: bounded(values) },
      expansion.span,
      expansion.scope,
    );
  }
  return values;
}

/** With `${x:?}` bash stops if the variable is empty, so `${x:?}/` is never the root directory. */
function notEmpty(value: Value, written: string): Value {
  return value.map((piece) => (typeof piece === 'object' ? { ...piece, text: written } : piece));
}

/** Expands a default value. In double quotes and heredocs its single quotes are literal, which unbash does not always see. */
function defaultValues({ walk, scope, span }: Expansion, operand: Word, quoted: boolean): readonly Value[] {
  const values = walk.single(operand, scope, quoted);
  if (operand.text.includes("$'") && operand.parts?.some(losesQuotes))
    refuseMisread(walk, operand.text, span);
  if (!quoted || !operand.text.includes("'")) return values;
  if (operand.parts?.some(hidesText)) {
    const reason = `The quotes in ${operand.text} are literal there, so the text inside them may be expanded.`;
    const hint = 'Put the default into a variable first.';
    walk.problems.push({ scope: 'always', rule: 'unparsable', reason, hint, ...span });
  }
  return [...values, [derivedHole([operand.text])]];
}

/** Returns true if `$'…'` contains special characters: in double quotes bash may drop its quotes. */
function losesQuotes(part: WordPart): boolean {
  if (part.type === 'AnsiCQuoted') return !/^[\w\s./:,=@%+-]*$/.test(part.value);
  return (part.type === 'ExtendedGlob' || part.type === 'Glob') && (part.parts?.some(losesQuotes) ?? false);
}

/** Returns true if unbash treats text as quoted in which bash would expand something. */
function hidesText(part: WordPart): boolean {
  if (part.type === 'SingleQuoted' || part.type === 'AnsiCQuoted') return mayExpand(part.text.slice(1));
  if (part.type === 'ProcessSubstitution') return /['\\]/.test(part.text) && mayExpand(part.text);
  return (part.type === 'ExtendedGlob' || part.type === 'Glob') && (part.parts?.some(hidesText) ?? false);
}

function transformed(
  expansion: Expansion,
  operation: Extract<ParameterOperation, { type: 'Transform' }>,
  base: readonly Value[],
): readonly Value[] {
  const { walk, scope, span } = expansion;
  if (operation.operand.value !== 'P') {
    // `@E` decodes escapes such as `\x24`.
    if (operation.operand.value === 'E') walk.literals.note('[$(');
    const decodes = operation.operand.value === 'E';
    return base.map((value) => [(decodes ? decodedEscapes(value) : undefined) ?? takenHole(value)]);
  }
  for (const value of base) {
    const text = textOf(value);
    // In a prompt `\044` is a dollar sign.
    if (text !== undefined && !/\\\d/.test(text)) walk.evaluate(text, 'prompt', span, scope);
    else {
      const reason = '@P would evaluate text that cannot be known, which is not allowed.';
      walk.problems.push({ scope: 'finite', rule: 'unknown_text', reason, ...span });
    }
  }
  return [[unknown]];
}

function decodedEscapes(value: Value): string | undefined {
  const text = textOf(value);
  return text === undefined ? undefined : decodeEscapes(text, 'format');
}

function evaluateWord({ walk, scope, span }: Expansion, word: Word): readonly Value[] {
  return evaluateExpression(walk, word, span, scope);
}

function knownText(values: readonly Value[]): string | undefined {
  const [only] = values;
  return values.length === 1 && only !== undefined ? textOf(only) : undefined;
}
