import type {
  AndOr,
  CommandNode,
  CompoundList,
  ParsedScript,
  Pipeline,
  PipelineNode,
  Redirected,
  Statement,
  Subshell,
} from 'unbash';
import {
  anyOutput,
  foreignOperands,
  foreignOutput,
  joinOutput,
  type Output,
  possibleOutput,
  type Stdin,
  silent,
  skippable,
  withErrors,
} from '../words/output.ts';
import { AndOrOutput } from './and-or-output.ts';
import { applyRedirects } from './apply-redirects.ts';
import { exitsEarly, mayEndShell, mayExitEarly } from './early-exit.ts';
import { defineFunction } from './functions.ts';
import { recordFile } from './judge-write.ts';
import { hasOperators, refuseInSh } from './refuse-in-sh.ts';
import { spanOf, type WalkScope } from './scope.ts';
import { separateInput } from './shared-input.ts';
import type { Shell } from './shell.ts';
import { unknownVariable } from './variable.ts';
import type { Walk } from './walk.ts';
import { conditional, walkCase, walkIf } from './walk-branches.ts';
import { walkCommand } from './walk-command.ts';
import { walkArithmeticFor, walkFor, walkWhile } from './walk-loops.ts';
import { walkTest } from './walk-test.ts';

/** Walks a script; a parse error anywhere in it is a problem under every list. */
export function walkScript(walk: Walk, script: ParsedScript, scope: WalkScope): Output {
  for (const error of script.errors ?? []) reportError(walk, error.message, error.pos, scope);
  return walkStatements(walk, script.commands, scope);
}

function reportError(walk: Walk, message: string, pos: number, scope: WalkScope): void {
  const span = scope.within ?? { pos, end: pos + 1 };
  walk.problems.push({
    scope: 'always',
    rule: 'unparsable',
    reason: `The command does not parse: ${message}.`,
    ...span,
  });
}

function walkStatements(walk: Walk, statements: readonly Statement[], scope: WalkScope): Output {
  const [first] = statements;
  if (statements.length === 1 && first !== undefined) return walkStatement(walk, first, scope);
  let output = silent;
  let mayHaveExited = false;
  for (const statement of statements) {
    const before = walk.invocations.length;
    const printed = walkStatement(walk, statement, scope);
    if (scope.discardsOutput) continue;
    output = joinOutput(output, mayHaveExited ? skippable(printed) : printed);
    mayHaveExited ||= mayExitEarly(statement.command) || mayEndShell(walk, before);
  }
  return output;
}

function walkStatement(walk: Walk, statement: Statement, scope: WalkScope): Output {
  walk.spend(1);
  if (!statement.background) return walkList(walk, statement.command, scope);
  const inner = scope.fork();
  inner.background = true;
  walk.hasBackground = true;
  return possibleOutput([walkList(walk, statement.command, inner)]);
}

function walkList(walk: Walk, node: PipelineNode | AndOr, scope: WalkScope): Output {
  return node.type === 'AndOr' ? walkAndOr(walk, node, scope) : walkPipeline(walk, node, scope);
}

/** Walks `a && b || c`: each command with the state after the previous ones; then merges the states without it. */
function walkAndOr(walk: Walk, node: AndOr, scope: WalkScope): Output {
  const skipped: { before: Shell; operator: string }[] = [];
  // `cd x || echo no` continues in the old directory; `cd x || exit` does not continue.
  if (node.operators.some((operator, index) => operator === '||' && !exitsEarly(node.commands[index + 1]))) {
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
    mergeSkipped(scope.shell, before, operator);
    before.release();
  }
  return printed.output;
}

function mergeSkipped(shell: Shell, before: Shell, operator: string): void {
  const cwd = shell.cwd;
  shell.merge(before);
  // Commands after `cd x && …` assume x, so only `||` makes both directories possible.
  if (operator === '&&') shell.cwd = cwd;
}

/** Walks a pipeline; each of several commands runs in a subshell and reads the output of the previous one. */
export function walkPipeline(walk: Walk, node: PipelineNode, scope: WalkScope): Output {
  if (node.type !== 'Pipeline') return walkNode(walk, node, scope);
  const [only] = node.commands;
  if (node.commands.length === 1 && only !== undefined) return walkNode(walk, only, scope);
  return walkStages(walk, node, scope);
}

function walkStages(walk: Walk, node: Pipeline, scope: WalkScope): Output {
  const pipeline = walk.nextPipelineId();
  let stdin: Stdin = scope.stdin;
  let output = silent;
  for (const [index, command] of node.commands.entries()) {
    walk.spend(1 + scope.shell.variables.size / 8);
    const inner = scope.fork();
    inner.stdin = stdin;
    inner.pipeline = pipeline;
    const deferredBefore = walk.deferred.length;
    output = walkNode(walk, command, inner);
    if (walk.deferred.length === deferredBefore) inner.shell.release();
    const printed = node.operators[index] === '|&' ? withErrors(output) : output;
    stdin = printed === foreignOperands ? separateInput(printed) : printed;
  }
  return output;
}

function walkNode(walk: Walk, node: CommandNode, scope: WalkScope): Output {
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
      return walkWhile(walk, node, scope);
    case 'Case':
      return walkCase(walk, node, scope);
    case 'TestCommand':
      if (hasOperators(node.expression)) refuseInSh(walk, node, '[[', scope);
      return walkTest(walk, node.expression, scope);
    case 'ArithmeticCommand':
      refuseInSh(walk, node, '((', scope);
      walk.arithmetic(node.expression, node.body, scope.at(node));
      return silent;
    case 'ArithmeticFor':
      return walkArithmeticFor(walk, node, scope);
  }
}

function walkSubshell(walk: Walk, node: Subshell, scope: WalkScope): Output {
  const inner = scope.fork();
  inner.readTwice = scope.readTwice || isDoubled(node);
  return walkBody(walk, node.body, inner);
}

/** Returns true for `((`: a subshell that begins with another one without a space. */
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

function walkRedirected(walk: Walk, node: Redirected, scope: WalkScope): Output {
  const { stdin, captured, mixed, target } = applyRedirects(walk, node.redirects, undefined, scope);
  const printed = walkNode(walk, node.command, scope.with({ stdin }));
  const output = mixed ? withErrors(printed) : printed;
  if (target !== undefined) recordFile(walk, target, scope.conditional ? anyOutput : output, scope);
  return captured ? output : anyOutput;
}

/** Walks a list of commands. */
export function walkBody(walk: Walk, body: CompoundList, scope: WalkScope): Output {
  return walkStatements(walk, body.commands, scope);
}

function walkCoproc(walk: Walk, node: Extract<CommandNode, { type: 'Coproc' }>, scope: WalkScope): Output {
  const inner = scope.fork();
  inner.stdin = foreignOutput;
  inner.background = true;
  walk.hasBackground = true;
  walk.assign(node.name?.value ?? 'COPROC', unknownVariable, spanOf(node, scope), scope);
  if (node.body.type === 'CompoundList') walkBody(walk, node.body, inner);
  else walkNode(walk, node.body, inner);
  return anyOutput;
}
