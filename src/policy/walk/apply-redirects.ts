import type { HereDoc, Redirect, Redirection } from 'unbash';
import { findProtectedPlace, isEssentialFile, isListing } from '../danger/protected-places.ts';
import { fileKey } from '../programs/written-files.ts';
import {
  type Arg,
  foreignText,
  knownArg,
  type Piece,
  textBehind,
  textOf,
  toArg,
  unknownArg,
  type Value,
  wordText,
} from '../words/arg.ts';
import { fileContents, foreignOutput, hasOptionWord, type Stdin } from '../words/output.ts';
import { normalisePath } from '../words/paths.ts';
import { isEndlessFile } from './endless-loops.ts';
import { expandQuoted, expandSingle } from './expand-word.ts';
import { refuseMisread } from './misread.ts';
import { refuseInSh } from './refuse-in-sh.ts';
import { spanOf, type WalkScope } from './scope.ts';
import { isStdinPath, separateInput } from './shared-input.ts';
import { derivedHole } from './variable.ts';
import type { Walk } from './walk.ts';

/** The effect of redirections: the new stdin, and whether stdout is still captured. */
export interface Redirected {
  readonly stdin: Stdin;
  readonly captured: boolean;
  /** True if error messages, which may contain text of the command, are written to where stdout is. */
  readonly mixed: boolean;
  /** The file that gets the whole output, if it is known. */
  readonly target: Arg | undefined;
}

/** Walks redirections: expands their words, judges the files they write and determines stdin. */
export function applyRedirects(
  walk: Walk,
  redirects: readonly Redirection[],
  program: string | undefined,
  scope: WalkScope,
): Redirected {
  if (redirects.length === 0) return { stdin: scope.stdin, captured: true, mixed: false, target: undefined };
  let { stdin } = scope;
  let captured = true;
  let mixed = false;
  let target: Arg | undefined;
  for (const redirect of redirects) {
    const descriptor = redirect.descriptor;
    if (descriptor?.type === 'FileDescriptorVariable') {
      const number: Piece = { hole: 'number', text: '' };
      // In `{v[x]}>f` bash evaluates the subscript.
      walk.evaluate(descriptor.name, 'name', spanOf(redirect, scope), scope);
      walk.assign(descriptor.name, { kind: 'text', values: [[number]] }, spanOf(redirect, scope), scope);
    }
    const number = descriptor?.type === 'FileDescriptor' ? descriptor.value : undefined;
    const input = inputOf(walk, redirect, program, scope);
    if (input !== undefined && (number ?? 0) === 0 && descriptor?.type !== 'FileDescriptorVariable')
      stdin = input;
    else if (input !== undefined && input !== 'none' && number !== undefined)
      walk.inputs.set(String(number), input);
    if (redirect.type === 'Redirect' && redirect.operator.startsWith('&>'))
      refuseInSh(walk, redirect, '&>', scope);
    if (redirect.type === 'Redirect' && redirect.operator.includes('>')) {
      const [file, ...others] = applyWrite(walk, redirect, program, scope);
      if (number !== 1 && descriptor !== undefined && (file === undefined || mayBeOutput(redirect, file)))
        mixed = true;
      if ((number ?? 1) === 1 && redirect.operator !== '<>') {
        captured = false;
        target = /^>\|?$/.test(redirect.operator) && others.length === 0 ? file : undefined;
      }
    }
  }
  return { stdin, captured, mixed, target };
}

/** Returns true if a descriptor other than stdout may be written to stdout, as with `2>&1` and `2>/dev/stdout`. */
function mayBeOutput({ operator }: Redirect, { text }: Arg): boolean {
  if (text === undefined) return true;
  if (operator === '>&') return text !== '2' && text !== '-';
  return /^\/(?:dev|proc)\//.test(text) && text !== '/dev/null' && text !== '/dev/stderr';
}

function inputOf(
  walk: Walk,
  redirect: Redirection,
  program: string | undefined,
  scope: WalkScope,
): Stdin | undefined {
  if (redirect.type === 'HereDoc') return certainText(hereDocValues(walk, redirect, scope));
  if (redirect.type === 'HereString') {
    const values = redirect.target === undefined ? [] : expandSingle(walk, scope, redirect.target);
    return certainText(values.map((value) => [...value, '\n']));
  }
  if (!redirect.operator.startsWith('<')) return undefined;
  if (redirect.target === undefined) return foreignOutput;
  const values = expandSingle(walk, scope, redirect.target);
  const span = spanOf(redirect.target, scope);
  if (redirect.operator === '<&') {
    for (const value of values) judgeDuplicate(walk, toArg(value, span), program);
    if (values.some((value) => textOf(value) === '0')) return sameInput(walk, redirect, scope);
    return foreignOutput;
  }
  for (const value of values) judgeConnection(walk, toArg(value, span), program);
  if (redirect.descriptor?.type === 'FileDescriptor')
    openFolder(walk, redirect.descriptor.value, values, scope);
  return fileInput(walk, values, scope);
}

/** After `exec 3< /`, the path of the descriptor is a link to the directory. */
function openFolder(
  { links, home }: Walk,
  descriptor: number,
  values: readonly Value[],
  { shell }: WalkScope,
): void {
  const [path] = values.map(textOf);
  if (path === undefined) return;
  const target = normalisePath(path, shell.cwd?.[0]);
  if (target === undefined || !findProtectedPlace(knownArg(target, nowhere), undefined, home)) return;
  for (const folder of ['/proc/self/fd', '/dev/fd']) links.set(`${folder}/${descriptor}`, target);
}

const nowhere = { pos: 0, end: 0 };

/** Bash opens a network connection for `/dev/tcp/host/port`. */
function judgeConnection(walk: Walk, { pieces, pos, end }: Arg, program: string | undefined): void {
  const [first] = pieces;
  if (typeof first !== 'string' || !/^\/dev\/(?:tcp|udp)\//.test(first)) return;
  const reason = `opening the network connection ${first} is not allowed under an allow list`;
  walk.problems.push({ scope: 'finite', rule: 'network', reason, program, pos, end });
}

/** The input of `<&0`. After `3<&0`, commands may read it through the other descriptor as well. */
function sameInput({ partlyRead }: Walk, { descriptor }: Redirect, { stdin }: WalkScope): Stdin {
  const isOther =
    descriptor !== undefined && !(descriptor.type === 'FileDescriptor' && descriptor.value === 0);
  if (isOther && stdin !== 'none') partlyRead.set(stdin, 'anywhere');
  return stdin;
}

function fileInput(walk: Walk, [value]: readonly Value[], { shell, stdin }: WalkScope): Stdin {
  const [piece] = value ?? [];
  const path = textOf(value ?? []);
  if (path === '/dev/null') return 'none';
  if (path !== undefined && isStdinPath(path)) return stdin;
  if (isEndlessFile(path ?? (typeof piece === 'object' ? piece.text : '')))
    return { ...fileContents, endless: true };
  const written =
    path === undefined || walk.files.size === 0 ? undefined : walk.files.get(fileKey(path, shell.cwd));
  if (written !== undefined) return written.more ? { ...written, from: foreignText } : separateInput(written);
  if (typeof piece !== 'object' || piece.hole !== 'process') return fileContents;
  if (piece.output !== undefined) return { text: piece.output, more: false };
  const { from, made, operand } = piece;
  return { text: piece.listed === undefined ? '' : `${piece.listed}\n`, more: true, from, made, operand };
}

/** Converts the possible values to stdin; several texts are joined and marked with `more`. */
function certainText(values: readonly Value[]): Stdin {
  const [only] = values;
  if (values.length === 1 && only !== undefined) return stdinOf(only);
  const texts = values.map(textOf);
  const known = texts.filter((text) => text !== undefined);
  const more = texts.length !== 1 || known.length !== 1;
  return { text: known.join('\n'), more, from: more ? derivedHole(values.flat()).from : undefined };
}

function stdinOf(value: Value): Stdin {
  const text = textOf(value);
  if (text !== undefined) return { text, more: false };
  const { from, made } = derivedHole(value);
  const operand = value.every(isOperandPiece) ? true : undefined;
  return { text: '', more: true, from, made, operand };
}

function isOperandPiece(piece: Piece): boolean {
  if (typeof piece === 'string') return !hasOptionWord(piece);
  return piece.operand === true || piece.outside === true || piece.hole === 'number';
}

function hereDocValues(walk: Walk, heredoc: HereDoc, scope: WalkScope): readonly Value[] {
  if (heredoc.closing === undefined) {
    const reason = 'The command does not parse: a heredoc is not closed.';
    walk.problems.push({ scope: 'always', rule: 'unparsable', reason, ...spanOf(heredoc, scope) });
  }
  // Bash compares lines with a delimiter that contains substitutions as it would print it, not as written.
  if (scope.readTwice || /[`(]|\$[{[]/.test(heredoc.delimiter?.text ?? ''))
    refuseMisread(walk, heredoc.delimiter?.text ?? '', spanOf(heredoc, scope));
  const tabs = heredoc.operator === '<<-';
  const trim = (text: string): string => (tabs ? text.replace(/^\t+/gm, '') : text);
  const { parts } = heredoc.body;
  if (heredoc.delimiter?.quoted || parts === undefined) {
    const text = trim(heredoc.body.text);
    walk.literals.note(text);
    return [[heredoc.delimiter?.quoted ? text : text.replace(/\\([$`\\])|\\\n/g, '$1')]];
  }
  const values = expandQuoted(walk, scope, parts, spanOf(heredoc.body, scope));
  if (!tabs) return values;
  return values.map((value) => value.map((piece) => (typeof piece === 'string' ? trim(piece) : piece)));
}

function applyWrite(
  walk: Walk,
  redirect: Redirect,
  program: string | undefined,
  scope: WalkScope,
): readonly Arg[] {
  if (redirect.target === undefined) return [];
  const span = spanOf(redirect.target, scope);
  const targets = expandSingle(walk, scope, redirect.target).map((value): Arg => {
    const text = textOf(value);
    return text === undefined
      ? value.length > 0
        ? toArg(value, span)
        : unknownArg(span)
      : knownArg(text, span);
  });
  for (const target of targets) {
    if (redirect.operator === '>&') judgeDuplicate(walk, target, program);
    const duplicate = redirect.operator === '>&' && /^(\d+-?|-)$/.test(wordText(target));
    if (duplicate) continue;
    if (redirect.operator === '>&' && target.pieces.some(isExpandedAgain))
      refuseMisread(walk, redirect.target.text, span);
    walk.write(target, program, scope);
    if (!/>>|<>/.test(redirect.operator)) judgeReplaced(walk, target, program, scope);
  }
  return targets;
}

/** Reports a redirection that empties an essential file, or any file of a home or system directory. */
function judgeReplaced(walk: Walk, target: Arg, program: string | undefined, { shell }: WalkScope): void {
  const { pos, end } = target;
  if (isEssentialFile(target)) {
    const reason = `it replaces ${wordText(target)}`;
    walk.problems.push({ scope: 'danger', rule: 'essential_file', reason, program, pos, end });
  } else if (target.text === undefined) {
    const place = findProtectedPlace(target, shell.cwd, walk.home);
    const reason = `it empties everything in ${place?.path}`;
    if (place && (place.content || isListing(target)) && namesFiles(target))
      walk.problems.push({ scope: 'danger', rule: 'recursive_delete', reason, program, pos, end });
  }
}

/** Returns true for a glob or a listing, and false for a word with a variable, which may be empty. */
function namesFiles(target: Arg): boolean {
  return (
    isListing(target) || target.pieces.every((piece) => typeof piece === 'string' || piece.hole === 'glob')
  );
}

/** Reports descriptors from 10 up, which bash uses itself; a persistent shell exchanges commands and state there. */
function judgeDuplicate(walk: Walk, target: Arg, program: string | undefined): void {
  const { text, pieces, pos, end } = target;
  const isForeign = pieces.some((piece) => textBehind(piece).includes(foreignText));
  const isKnown = text !== undefined ? !/^\d{2,}-?$/.test(text) : !isForeign && !pieces.every(mayBeNumber);
  if (isKnown) return;
  const reason = `using ${text === undefined ? 'an unknown descriptor' : `descriptor ${text}`} is not allowed under an allow list, because the shell uses some itself`;
  walk.problems.push({ scope: 'finite', rule: 'descriptor', reason, program, pos, end });
}

function mayBeNumber(piece: Piece): boolean {
  return typeof piece === 'object' || /^\d*$/.test(piece);
}

/** Returns true if bash would expand the file name after `>&` a second time. */
function isExpandedAgain(piece: Piece): boolean {
  return /[$`]|[<>]\(/.test(textBehind(piece).replaceAll(foreignText, ''));
}
