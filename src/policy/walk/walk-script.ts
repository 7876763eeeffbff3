import type {
  AndOr,
  Case,
  Command,
  CommandNode,
  CompoundList,
  For,
  If,
  ParsedScript,
  Pipeline,
  PipelineNode,
  Redirected,
  Select,
  Statement,
  Subshell,
  TestExpression,
  While,
  Word,
} from 'unbash';
import { AndOrOutput } from './and-or-output.ts';
import { applyRedirects } from './apply-redirects.ts';
import type { Span } from './arg.ts';
import { expandWord } from './expand-word.ts';
import { defineFunction } from './functions.ts';
import { limits } from './limits.ts';
import { hasOperators, notForSh } from './not-for-sh.ts';
import { type Scope, spanOf } from './scope.ts';
import {
  addToMade,
  bounded,
  type Shell,
  union,
  unknownVariable,
  type Value,
  type Variable,
  valueKey,
} from './shell.ts';
import {
  anyOutput,
  joinOutput,
  type Output,
  perhapsOutput,
  type Stdin,
  silent,
  skippable,
  type Walk,
} from './walk.ts';
import { walkCommand } from './walk-command.ts';

/** Walks a script: an error anywhere in it is a problem under every list. */
export function walkScript(walk: Walk, script: ParsedScript, scope: Scope): Output {
  for (const error of script.errors ?? []) reportError(walk, error.message, error.pos, scope);
  return walkStatements(walk, script.commands, scope);
}

/** Reports that text does not parse. */
export function reportError(walk: Walk, message: string, pos: number, scope: Scope): void {
  const span = scope.within ?? { pos, end: pos + 1 };
  walk.problems.push({
    scope: 'always',
    rule: 'unparsable',
    reason: `The command does not parse: ${message}.`,
    ...span,
  });
}

function walkStatements(walk: Walk, statements: readonly Statement[], scope: Scope): Output {
  const [first] = statements;
  if (statements.length === 1 && first !== undefined) return walkStatement(walk, first, scope);
  let output = silent;
  let left = false;
  for (const statement of statements) {
    const before = walk.invocations.length;
    const printed = walkStatement(walk, statement, scope);
    output = joinOutput(output, left ? skippable(printed) : printed);
    left ||= mayLeave(statement.command) || mayEnd(walk, before);
  }
  return output;
}

/** Whether what stands behind a command may not be reached. */
function mayLeave(node: PipelineNode | AndOr): boolean {
  if (node.type === 'Command') return isLeaving(node);
  if (node.type === 'AndOr') return node.commands.some(mayLeave);
  return node.type === 'BraceGroup' && node.body.commands.some(({ command }) => mayLeave(command));
}

function isEnding(name: string): boolean {
  return name === 'exit' || name === 'exec' || name === 'set';
}

/** Whether what was called since may end the shell or turn its output elsewhere, from inside a function, too. */
function mayEnd({ invocations }: Walk, since: number): boolean {
  for (let at = since; at < invocations.length; at++) if (isEnding(invocations[at]?.name ?? '')) return true;
  return false;
}

function walkStatement(walk: Walk, statement: Statement, scope: Scope): Output {
  walk.spend(1);
  if (!statement.background) return walkList(walk, statement.command, scope);
  const away = scope.fork();
  away.background = true;
  return perhapsOutput([walkList(walk, statement.command, away)]);
}

function walkList(walk: Walk, node: PipelineNode | AndOr, scope: Scope): Output {
  return node.type === 'AndOr' ? walkAndOr(walk, node, scope) : walkPipeline(walk, node, scope);
}

/** Walks `a && b || c`: each command with what the ones before have done; afterwards it may have been left out. */
function walkAndOr(walk: Walk, node: AndOr, scope: Scope): Output {
  const skipped: { before: Shell; operator: string }[] = [];
  // `cd x || echo no` goes on in the old directory; `cd x || exit` does not go on.
  if (node.operators.some((operator, index) => operator === '||' && !leaves(node.commands[index + 1]))) {
    skipped.push({ before: scope.shell.clone(), operator: '||' });
  }
  const [first] = node.commands;
  const inner = conditional(scope);
  const printed = new AndOrOutput(first === undefined ? silent : walkPipeline(walk, first, scope));
  for (let index = 1; index < node.commands.length; index++) {
    const command = node.commands[index];
    const operator = node.operators[index - 1];
    if (command === undefined || operator === undefined) break;
    walk.spend(1 + scope.shell.variables.size / 8);
    skipped.push({ before: scope.shell.clone(), operator });
    printed.add(operator, walkPipeline(walk, command, inner));
  }
  for (const { before, operator } of skipped) {
    leaveOut(scope.shell, before, operator);
    before.release();
  }
  return printed.output;
}

/** The scope for what may be left out. */
function conditional(scope: Scope): Scope {
  return scope.conditional ? scope : inBranch(scope, scope.shell);
}

/** The scope of a branch, with the shell as it is there. */
function inBranch(scope: Scope, shell: Shell): Scope {
  const inner = scope.copy();
  inner.shell = shell;
  inner.conditional = true;
  return inner;
}

const leaving = new Set(['exit', 'return', 'break', 'continue', 'exec']);

function isLeaving({ name }: Command): boolean {
  // Quotes only make a name longer, so what is shorter than the shortest need not be read.
  return name !== undefined && name.text.length > 3 && leaving.has(name.value);
}

/** Whether a command ends with leaving the script, the function or the loop. */
function leaves(node: PipelineNode | AndOr | undefined): boolean {
  if (node?.type === 'Command') return isLeaving(node);
  if (node?.type === 'BraceGroup') return leaves(node.body.commands.at(-1)?.command);
  return false;
}

function leaveOut(shell: Shell, before: Shell, operator: string): void {
  const cwd = shell.cwd;
  shell.absorb(before);
  // What follows `cd x && …` is meant for x, so only an alternative leaves the directory open.
  if (operator === '&&') shell.cwd = cwd;
}

/** Walks a pipeline; each of several commands has a shell of its own and reads what the one before prints. */
export function walkPipeline(walk: Walk, node: PipelineNode, scope: Scope): Output {
  if (node.type !== 'Pipeline') return walkNode(walk, node, scope);
  const [only] = node.commands;
  if (node.commands.length === 1 && only !== undefined) return walkNode(walk, only, scope);
  return walkStages(walk, node, scope);
}

function walkStages(walk: Walk, node: Pipeline, scope: Scope): Output {
  const pipeline = walk.nextNumber();
  let stdin: Stdin = scope.stdin;
  let output = silent;
  for (const command of node.commands) {
    walk.spend(1 + scope.shell.variables.size / 8);
    const inner = scope.fork();
    inner.stdin = stdin;
    inner.pipeline = pipeline;
    const keepers = walk.functions.length;
    output = walkNode(walk, command, inner);
    if (walk.functions.length === keepers) inner.shell.release();
    stdin = output;
  }
  return output;
}

function walkNode(walk: Walk, node: CommandNode, scope: Scope): Output {
  walk.spend(1);
  switch (node.type) {
    case 'Command':
      return walkCommand(walk, node, scope);
    case 'Redirected':
      return walkRedirected(walk, node, scope);
    case 'BraceGroup':
      return walkBody(walk, node.body, scope);
    case 'Subshell':
      return walkSubshell(walk, node, scope);
    case 'Coproc':
      return walkCoproc(walk, node, scope);
    case 'Function':
      return defineFunction(walk, node, scope);
    case 'If':
      return walkIf(walk, node, scope);
    case 'For':
    case 'Select':
      return walkFor(walk, node, scope);
    case 'While':
      return walkLoop(walk, scope, [], (inner) => {
        const tested = walkBody(walk, node.clause, inner);
        return joinOutput(tested, walkBody(walk, node.body, isEndless(node) ? inner : conditional(inner)));
      });
    case 'Case':
      return walkCase(walk, node, scope);
    case 'TestCommand':
      if (hasOperators(node.expression)) notForSh(walk, node, '[[', scope);
      return walkTest(walk, node.expression, scope);
    case 'ArithmeticCommand':
      notForSh(walk, node, '((', scope);
      walk.arithmetic(node.expression, node.body, scope.at(node));
      return silent;
    case 'ArithmeticFor':
      return walkLoop(walk, scope, [], (inner) => {
        const place = inner.at(node);
        for (const part of [node.initialize, node.test, node.update]) walk.arithmetic(part, '', place);
        return walkBody(walk, node.body, inner);
      });
  }
}

function walkSubshell(walk: Walk, node: Subshell, scope: Scope): Output {
  const away = scope.fork();
  away.readTwice = scope.readTwice || isDoubled(node);
  return walkBody(walk, node.body, away);
}

/** Whether a subshell begins with another one, without a blank between. */
function isDoubled({ pos, body }: Subshell): boolean {
  const first = body.commands[0];
  return first?.pos === pos + 1 && startsWithSubshell(first.command);
}

function startsWithSubshell(node: PipelineNode | AndOr): boolean {
  if (node.type === 'AndOr' || node.type === 'Pipeline') {
    const [first] = node.commands;
    return first !== undefined && startsWithSubshell(first);
  }
  return node.type === 'Subshell' || (node.type === 'Redirected' && node.command.type === 'Subshell');
}

function walkRedirected(walk: Walk, node: Redirected, scope: Scope): Output {
  const { stdin, captured } = applyRedirects(walk, node.redirects, undefined, scope);
  const output = walkNode(walk, node.command, scope.with({ stdin }));
  return captured ? output : anyOutput;
}

/** Walks a list of commands. */
export function walkBody(walk: Walk, body: CompoundList, scope: Scope): Output {
  return walkStatements(walk, body.commands, scope);
}

function walkCoproc(walk: Walk, node: Extract<CommandNode, { type: 'Coproc' }>, scope: Scope): Output {
  const away = scope.fork();
  away.stdin = anyOutput;
  away.background = true;
  walk.assign(node.name?.value ?? 'COPROC', unknownVariable, spanOf(node, scope), scope);
  if (node.body.type === 'CompoundList') walkBody(walk, node.body, away);
  else walkNode(walk, node.body, away);
  return anyOutput;
}

function walkIf(walk: Walk, node: If, scope: Scope): Output {
  const keepers = walk.functions.length;
  const tested = walkBody(walk, node.clause, scope);
  const then = walkBranch(walk, node.then, scope);
  const outputs = [tested, then.output];
  const ends = [then.shell];
  const take = ({ shell, output }: Branch): void => {
    outputs.push(output);
    ends.push(shell);
  };
  for (const elif of node.elif) {
    outputs.push(walkBody(walk, elif.clause, conditional(scope)));
    take(walkBranch(walk, elif.then, scope));
  }
  if (node.else !== undefined) take(walkBranch(walk, node.else, scope));
  settle(scope.shell, ends, node.else !== undefined, walk.functions.length === keepers);
  return perhapsOutput(outputs);
}

/** What a branch prints, and the shell as it leaves it. */
interface Branch {
  readonly output: Output;
  readonly shell: Shell;
}

function walkBranch(walk: Walk, body: CompoundList, scope: Scope): Branch {
  const shell = scope.shell.clone();
  walk.spend(1 + shell.variables.size / 8);
  return { output: walkBody(walk, body, inBranch(scope, shell)), shell };
}

function walkCase(walk: Walk, node: Case, scope: Scope): Output {
  const keepers = walk.functions.length;
  walk.single(node.word, scope);
  const ends: Shell[] = [];
  const outputs: Output[] = [];
  for (const item of node.items) {
    for (const pattern of item.pattern) walk.single(pattern, scope);
    const shell = scope.shell.clone();
    walk.spend(1 + shell.variables.size / 8);
    // A branch that falls through goes on with what the one before has set.
    const previous = ends.at(-1);
    if (previous !== undefined) shell.absorb(previous);
    outputs.push(walkBody(walk, item.body, inBranch(scope, shell)));
    ends.push(shell);
  }
  settle(scope.shell, ends, false, walk.functions.length === keepers);
  return perhapsOutput(outputs);
}

/** After branches, everything may hold that held at the end of one of them. */
function settle(shell: Shell, ends: readonly Shell[], complete: boolean, done: boolean): void {
  const [first] = ends;
  if (complete && first !== undefined) shell.become(first);
  for (const end of ends) shell.absorb(end);
  // Functions and traps keep the shell in which they were set until the end.
  if (done) for (const end of ends) end.release();
}

function walkFor(walk: Walk, node: For | Select, scope: Scope): Output {
  const name = node.name.value;
  const values =
    node.wordlist === undefined
      ? [[{ hole: 'unknown', text: '' } as const]]
      : loopValues(walk, node.wordlist, scope);
  return walkLoop(walk, scope, [name], (inner) => {
    walk.assign(
      name,
      { kind: 'text', values: node.type === 'Select' ? [...values, ['']] : values },
      spanOf(node.name, inner),
      inner,
    );
    if (node.type === 'Select') walk.assign('REPLY', unknownVariable, spanOf(node.name, inner), inner);
    return walkBody(walk, node.body, conditional(inner));
  });
}

function loopValues(walk: Walk, words: readonly Word[], scope: Scope): readonly Value[] {
  const values = new Map<string, Value>();
  for (const word of words) {
    for (const form of expandWord(walk, scope, word))
      for (const field of form) values.set(field.text ?? valueKey(field.pieces), field.pieces);
  }
  return bounded([...values.values()]);
}

/** Walks a loop's body; when it changes variables, once more with what the first round may have left. */
function walkLoop(walk: Walk, scope: Scope, own: readonly string[], body: (inner: Scope) => Output): Output {
  const inner = scope.copy();
  inner.loops = scope.loops + 1;
  const before = scope.shell.clone();
  walk.spend(24 + before.variables.size / 4);
  if (inner.loops > limits.loops) forget(scope.shell, [...before.variables.keys()]);
  const first = body(inner);
  const changed = scope.shell
    .changedSince(before)
    .filter((name) => !own.includes(name) && tellsMore(scope.shell, before, name));
  scope.shell.absorb(before);
  let second = first;
  if (changed.length > 0 && inner.loops <= limits.loops) {
    forget(scope.shell, changed);
    second = body(inner.with({ again: true }));
    scope.shell.absorb(before);
  }
  before.release();
  return perhapsOutput(second === first ? [first] : [first, second]);
}

/** Whether a round with what a variable holds now can show more; nothing is more than what is not known at all. */
function tellsMore(shell: Shell, before: Shell, name: string): boolean {
  return !isUnknown(before.variables.get(name)) || !isUnknown(shell.variables.get(name));
}

function isUnknown(variable: Variable | undefined): boolean {
  return variable?.kind === 'text' && variable.values.every(isUnknownValue);
}

function isUnknownValue([piece, ...others]: Value): boolean {
  return (
    others.length === 0 && typeof piece === 'object' && piece.hole === 'unknown' && piece.from === undefined
  );
}

function forget(shell: Shell, names: readonly string[]): void {
  for (const name of names) {
    const variable = shell.variables.get(name);
    if (variable !== undefined) shell.variables.set(name, union(variable, unknownVariable));
  }
}

function isEndless(node: While): boolean {
  const [only, ...others] = node.clause.commands;
  const command = only?.command;
  const name = command?.type === 'Command' && others.length === 0 ? command.name?.value : undefined;
  return node.kind === 'while' ? name === 'true' || name === ':' : name === 'false';
}

const numeric = new Set(['-eq', '-ne', '-lt', '-le', '-gt', '-ge']);

function walkTest(walk: Walk, expression: TestExpression, scope: Scope): Output {
  walk.spend(1);
  switch (expression.type) {
    case 'TestUnary':
      testOperand(
        walk,
        expression.operand,
        scope,
        expression.operator === '-v' || expression.operator === '-R' ? 'name' : undefined,
      );
      break;
    case 'TestBinary':
      for (const side of [expression.left, expression.right]) {
        const values = testOperand(
          walk,
          side,
          scope,
          numeric.has(expression.operator) ? 'arithmetic' : undefined,
        );
        if (expression.operator === '=~')
          for (const value of values) addToMade(scope.shell, 'BASH_REMATCH', value);
      }
      break;
    case 'TestLogical':
      for (const operand of expression.operands) walkTest(walk, operand, scope);
      break;
    case 'TestNot':
      walkTest(walk, expression.operand, scope);
      break;
    case 'TestGroup':
      walkTest(walk, expression.expression, scope);
  }
  return silent;
}

function testOperand(
  walk: Walk,
  word: Word,
  scope: Scope,
  as: 'name' | 'arithmetic' | undefined,
): readonly Value[] {
  const span: Span = spanOf(word, scope);
  const values = walk.single(word, scope);
  for (const value of values) if (as !== undefined) walk.evaluate(value, as, span, scope);
  return values;
}
