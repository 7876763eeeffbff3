import type { Assignment, Command, CommandArgument, Word } from 'unbash';
import {
  type Arg,
  knownArg,
  mayExpand,
  prefixOf,
  type TextSpan,
  textOf,
  toArg,
  unknown,
  type Value,
} from '../words/arg.ts';
import { limits } from '../words/limits.ts';
import {
  anyOutput,
  fileContents,
  foreignOutput,
  joinOutput,
  type Output,
  silent,
  withErrors,
} from '../words/output.ts';
import { applyRedirects } from './apply-redirects.ts';
import { isInteger } from './assign.ts';
import { evaluateKey, evaluateSubscript } from './evaluate-expression.ts';
import { expandParts, expandWord, fixedArg } from './expand-word.ts';
import { combine } from './expansion.ts';
import { recordFile } from './judge-write.ts';
import { counted, entriesOf, entryMap, type ListEntries, noEntries } from './list-entries.ts';
import { refuseMisread } from './misread.ts';
import { spanOf, type WalkScope } from './scope.ts';
import { addDerived, type Shell } from './shell.ts';
import {
  bounded,
  derivedHole,
  everyValue,
  union,
  unknownVariable,
  type Variable,
  valuesOf,
} from './variable.ts';
import type { Walk } from './walk.ts';
import { shapeOf } from './word-shape.ts';

/** Walks a simple command: its words, redirections and assignments, then the program in all its possible forms. */
export function walkCommand(walk: Walk, node: Command, scope: WalkScope): Output {
  const forms = commandForms(walk, node, scope);
  if (walk.usesLastWord) recordLastWord(forms, scope);
  // Fast path for most commands: a name and words.
  if (forms.head !== undefined && node.prefix.length === 0 && !forms.redirected)
    return runForms(walk, forms, scope);
  return walkWithContext(walk, node, forms, scope);
}

/** Records the last word of a command, which `$_` expands to afterwards. */
function recordLastWord({ head, words }: CommandForms, { shell }: WalkScope): void {
  for (const form of words) {
    const last = form[form.length - 1] ?? head;
    if (last?.text !== undefined && /^\/|(?:^|\/)\.\w/.test(last.text)) recordPath(last.text, shell);
    // Only text that could be evaluated again or be an option matters.
    if (
      last !== undefined &&
      (last.text === undefined || mayExpand(last.text) || /(?:^|\W)-|--/.test(last.text))
    )
      addDerived(shell, '_', last.pieces);
  }
}

/** Makes a path a possible value of `$_`, so that `cd / && rm -rf $_` is recognised. */
function recordPath(path: string, { variables }: Shell): void {
  const given: Variable = { kind: 'text', values: [[path], [unknown]] };
  const before = variables.get('_');
  variables.set('_', before === undefined ? given : union(before, given));
}

/** Walks a command that has redirections or assignments. */
function walkWithContext(walk: Walk, node: Command, forms: CommandForms, scope: WalkScope): Output {
  const program = (forms.head ?? forms.words[0]?.[0])?.text;
  const assignments = assignmentsOf(node);
  const redirected = forms.redirected || assignments.length < node.prefix.length;
  const isEmptyCommand = forms.head === undefined && forms.words.every(isEmpty);
  // Without a program bash assigns before it expands redirections; before a program it does so afterwards.
  if (isEmptyCommand) for (const assignment of assignments) assignHere(walk, assignment, scope, 'plain');
  const { stdin, captured, mixed, target } = applyRedirects(
    walk,
    redirected ? node.redirects : none,
    program,
    scope,
  );
  if (isEmptyCommand) {
    // `$(< file)` prints the file.
    return stdin === scope.stdin || stdin === 'none' ? silent : readFile(stdin);
  }
  const inner = stdin === scope.stdin ? scope : scope.with({ stdin });
  const printed =
    assignments.length === 0
      ? runForms(walk, forms, inner)
      : withEnvironment(walk, assignments, forms, scope, inner);
  const output = mixed ? withErrors(printed) : printed;
  // After `exec > file` every later command writes the file.
  if (target !== undefined && program !== 'exec')
    recordFile(walk, target, scope.conditional ? anyOutput : output, scope);
  return captured ? output : anyOutput;
}

/** The output of `$(< file)`; a file that the same command has written contains its own text. */
function readFile(stdin: Output): Output {
  return stdin.origin === 'file' ? fileContents : { ...foreignOutput, text: stdin.text, made: 'any' };
}

const none: readonly never[] = [];

function assignmentsOf({ prefix }: Command): readonly Assignment[] {
  return prefix.every(isAssignment) ? prefix : prefix.filter(isAssignment);
}

function isAssignment(item: Command['prefix'][number]): item is Assignment {
  return item.type === 'Assignment';
}

function isEmpty(form: readonly Arg[]): boolean {
  return form.length === 0;
}

/** The possible words of a command; most commands have a known name (`head`) and one list of arguments. */
interface CommandForms {
  readonly head: Arg | undefined;
  /** The arguments after `head`, or all words if `head` is undefined. */
  readonly words: readonly Arg[][];
  /** True if redirections follow the name. */
  readonly redirected: boolean;
}

function runForms(walk: Walk, { head, words }: CommandForms, scope: WalkScope): Output {
  const [only] = words;
  if (words.length === 1 && only !== undefined)
    return head === undefined ? walk.run(only, scope, byShell) : walk.call(head, only, scope, byShell);
  const { shell } = scope;
  const before = shell.clone();
  let output: Output | undefined;
  // Only one form runs, so merge the states after each of them.
  for (const form of words) {
    const after = before.clone();
    walk.spend(1 + after.variables.size / 8);
    const printed = walk.run(form, scope.with({ shell: after }), byShell);
    if (output === undefined) shell.replaceWith(after);
    else shell.merge(after);
    output =
      output === undefined ? printed : { ...joinOutput(output, printed), more: true, forms: undefined };
  }
  return output ?? silent;
}

const byShell = { by: 'shell' } as const;

/** Returns every combination of the possible forms of the name and the words. */
function commandForms(walk: Walk, node: Command, scope: WalkScope): CommandForms {
  const { name, suffix } = node;
  if (name === undefined) return nothingRuns;
  const reader = new FormsReader(walk, scope);
  reader.readName(name);
  for (const item of suffix) reader.read(item);
  if (reader.several !== undefined) reportTooMany(walk, reader.several, node, scope);
  return reader;
}

const nothingRuns: CommandForms = { head: undefined, words: [[]], redirected: false };

/** Expands the words of a command one by one. */
class FormsReader implements CommandForms {
  head: Arg | undefined;
  words: Arg[][] = [[]];
  redirected = false;
  /** The forms of each word that has more than one. */
  several: Arg[][][] | undefined;
  private readonly walk: Walk;
  private readonly scope: WalkScope;

  constructor(walk: Walk, scope: WalkScope) {
    this.walk = walk;
    this.scope = scope;
  }

  readName(name: Word): void {
    const shape = shapeOf(name.text);
    this.head = fixedArg(this.walk, this.scope, name, shape);
    if (this.head === undefined) this.add(expandParts(this.walk, this.scope, name, shape));
  }

  read(item: Command['suffix'][number]): void {
    if (item.type === 'Word') this.readWord(item);
    else if (item.type === 'Assignment') this.add(declarationForms(this.walk, item, this.scope));
    else this.redirected = true;
  }

  private readWord(item: Word): void {
    const shape = shapeOf(item.text);
    const fixed = fixedArg(this.walk, this.scope, item, shape);
    if (fixed === undefined) this.add(expandParts(this.walk, this.scope, item, shape));
    else for (const form of this.words) form.push(fixed);
  }

  private add(next: Arg[][]): void {
    const [only] = next;
    // A command may have thousands of words with one form each, so append those in place.
    if (next.length === 1 && only !== undefined) {
      for (const form of this.words) for (const arg of only) form.push(arg);
      return;
    }
    const { head } = this;
    if (head !== undefined) this.words = this.words.map((words) => [head, ...words]);
    this.head = undefined;
    this.words = combine(this.words, next, (left, right) => [...left, ...right], []);
    if (next.length > 1) {
      this.several ??= [];
      this.several.push(next);
    }
  }
}

function reportTooMany(walk: Walk, several: readonly Arg[][][], span: TextSpan, scope: WalkScope): void {
  const count = several.reduce((product, forms) => product * forms.length, 1);
  const options = several.flat(2).some((arg) => arg.text === undefined || /^[-+]/.test(arg.text));
  // Each plain word is checked anyway, so only omitted combinations with options could hide something.
  if (count <= limits.combinations || !options) return;
  const reason = 'The command has too many possible forms to check, which is not allowed.';
  walk.problems.push({ scope: 'finite', rule: 'too_many_forms', reason, ...spanOf(span, scope) });
}

/** Expands an argument `name=value` of `declare` and similar builtins; arrays are assigned immediately. */
function declarationForms(
  walk: Walk,
  item: Extract<CommandArgument, { type: 'Assignment' }>,
  scope: WalkScope,
): Arg[][] {
  const span = spanOf(item, scope);
  if (item.value.type === 'ArrayValue' || item.index !== undefined) {
    assignHere(walk, item, scope, 'plain');
    return [[knownArg(item.name, span)]];
  }
  const sign = item.append ? '+=' : '=';
  return walk.single(item.value, scope).map((value) => [toArg([`${item.name}${sign}`, ...value], span)]);
}

/** Runs a command with the assignments before it, and undoes them afterwards unless they may persist. */
function withEnvironment(
  walk: Walk,
  assignments: readonly Assignment[],
  forms: CommandForms,
  scope: WalkScope,
  inner: WalkScope,
): Output {
  const { shell } = scope;
  const { exported } = shell.defined;
  const before = assignments.map(
    ({ name }) => [name, shell.variables.get(name), exported.has(name)] as const,
  );
  for (const assignment of assignments) assignHere(walk, assignment, scope, 'exported');
  const persists = forms.words.some((form) => mayPersist((forms.head ?? form[0])?.text, shell));
  const output = runForms(walk, forms, inner);
  for (const [name, variable, wasExported] of before.reverse()) {
    const now = persists ? shell.variables.get(name) : undefined;
    if (now !== undefined) shell.variables.set(name, union(variable ?? unknownVariable, now));
    else if (variable === undefined) shell.variables.delete(name);
    else shell.variables.set(name, variable);
    if (!wasExported && !persists) shell.define().exported.delete(name);
  }
  return output;
}

const declaring = new Set('export declare typeset readonly local eval . source command builtin'.split(' '));
const special = new Set(': break continue exec exit return set shift times trap unset'.split(' '));

/** Assignments before functions and declaring builtins may persist; in `sh` those before special builtins always do. */
function mayPersist(name: string | undefined, shell: Shell): boolean {
  if (name === undefined || declaring.has(name) || shell.defined.functions.has(name)) return true;
  return shell.posix && special.has(name);
}

function assignHere(walk: Walk, item: Assignment, scope: WalkScope, how: 'plain' | 'exported'): void {
  const span = spanOf(item, scope);
  if (item.index !== undefined) evaluateKey(walk, item.name, item.index, span, scope);
  walk.assign(item.name, newVariable(walk, item, scope, how), span, scope, how);
}

function newVariable(walk: Walk, item: Assignment, scope: WalkScope, how: 'plain' | 'exported'): Variable {
  const before = scope.shell.variables.get(item.name);
  if (item.value.type === 'ArrayValue') {
    const list = newList(walk, item, scope, before);
    // Before a program, `y=(a b)` is a text in its environment.
    return how === 'plain' ? list : { kind: 'text', values: [[derivedHole(everyValue(list).flat())]] };
  }
  const values = walk.single(item.value, scope);
  // An integer adds the result of the text to its value.
  if (item.append && isInteger(item.name, scope.shell))
    for (const value of values) walk.evaluate(value, 'arithmetic', spanOf(item, scope), scope);
  if (item.index !== undefined) return newEntry(walk, item, values, scope, before);
  if (!item.append) return { kind: 'text', values: bounded(values) };
  const olds: readonly Value[] = before === undefined ? [[unknown]] : valuesOf(before);
  return { kind: 'text', values: bounded(olds.flatMap((old) => values.map((value) => merge(old, value)))) };
}

function merge(old: Value, value: Value): Value {
  const text = textOf([...old, ...value]);
  return text === undefined ? [...old, ...value] : [text];
}

function newList(walk: Walk, item: Assignment, scope: WalkScope, before: Variable | undefined): Variable {
  const old = item.append && before?.kind === 'list' ? before : undefined;
  const fields: Arg[] = [];
  let complete = !item.append || old?.complete === true;
  for (const word of item.value.type === 'ArrayValue' ? item.value.elements : []) {
    const forms = elementForms(walk, word, scope);
    if (forms.length !== 1) complete = false;
    for (const form of forms)
      for (const field of form) {
        if (field.many) complete = false;
        fields.push(field);
      }
    if (word.text.startsWith('['))
      evaluateSubscript(walk, word.text, forms.flat(), spanOf(item, scope), scope);
    // Without extglob bash skips the rest of the line and resumes in the middle of the following text.
    if (word.text.includes('(') && word.parts?.some((part) => part.type === 'ExtendedGlob'))
      refuseMisread(walk, item.text, spanOf(item, scope));
  }
  const { entries, inOrder } = appended(old?.entries ?? noEntries, fields);
  return { kind: 'list', entries, complete: complete && inOrder };
}

/** Expands an array element; `[subscript]=value` stays one word. */
function elementForms(walk: Walk, word: Word, scope: WalkScope): readonly Arg[][] {
  if (!word.text.startsWith('[') || (!word.text.includes(']=') && !word.text.includes(']+=')))
    return expandWord(walk, scope, word);
  return walk.single(word, scope).map((value) => [toArg(value, spanOf(word, scope))]);
}

/** Appends fields to entries; a field without a subscript continues from the last key, which may be unknown. */
function appended(old: ListEntries, fields: readonly Arg[]): { entries: ListEntries; inOrder: boolean } {
  if (old.keys === undefined && !fields.some(keyOf)) {
    const values = fields.map(({ pieces }) => pieces);
    return { entries: counted(old, values), inOrder: true };
  }
  const entries = entryMap(old);
  let counting = old.keys === undefined;
  let inOrder = true;
  for (const field of fields) {
    const found = keyOf(field);
    if (found === undefined && !counting) inOrder = false;
    if (found !== undefined) counting = false;
    entries.set(
      found?.key ?? String(entries.size),
      found === undefined ? field.pieces : afterKey(field, found.length),
    );
  }
  return { entries: entriesOf(entries), inOrder };
}

/** Returns the key of `[key]=value` and the length of the prefix before the value. */
function keyOf(field: Arg): { readonly key: string; readonly length: number } | undefined {
  const first = prefixOf(field);
  if (!first.startsWith('[')) return undefined;
  const match = /^\[([^\]]*)\]\+?=/.exec(first);
  return match === null ? undefined : { key: match[1] ?? '', length: match[0].length };
}

function afterKey(field: Arg, length: number): Value {
  const [first, ...rest] = field.pieces;
  return [typeof first === 'string' ? first.slice(length) : '', ...rest];
}

function newEntry(
  walk: Walk,
  item: Assignment,
  values: readonly Value[],
  scope: WalkScope,
  before: Variable | undefined,
): Variable {
  const [key, ...others] = item.index === undefined ? [] : walk.single(item.index, scope).map(textOf);
  const entries = entryMap(listBefore(before));
  const [value] = values;
  const isCertain = key !== undefined && others.length === 0 && values.length === 1 && !item.append;
  values.forEach((one, index) => {
    entries.set(isCertain ? key : `${entries.size}~${index}`, value === undefined ? [unknown] : one);
  });
  return {
    kind: 'list',
    entries: entriesOf(entries),
    complete: isCertain && (before === undefined || isKnownList(before)),
  };
}

/** Returns the entries before the assignment; a scalar becomes the first entry. */
function listBefore(before: Variable | undefined): ListEntries {
  if (before === undefined) return noEntries;
  return before.kind === 'list' ? before.entries : counted(noEntries, before.values);
}

function isKnownList(before: Variable): boolean {
  return before.kind === 'list' ? before.complete : before.values.length === 1;
}
