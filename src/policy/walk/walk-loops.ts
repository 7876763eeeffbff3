import type { ArithmeticFor, For, Select, While, Word } from 'unbash';
import { outside, type Value } from '../words/arg.ts';
import { limits } from '../words/limits.ts';
import { joinOutput, type Output, possibleOutput } from '../words/output.ts';
import { countsFar, hasManyRounds, hasSeveralRounds, isEndless, judgeEndless } from './endless-loops.ts';
import { expandWord } from './expand-word.ts';
import { spanOf, type WalkScope } from './scope.ts';
import type { Shell } from './shell.ts';
import { bounded, derivedHole, union, unknownVariable, type Variable, valueKey } from './variable.ts';
import type { Walk } from './walk.ts';
import { conditional } from './walk-branches.ts';

/** Walks `for` and `select` with every value of the loop variable. */
export function walkFor(walk: Walk, node: For | Select, scope: WalkScope): Output {
  const name = node.name.value;
  const values = node.wordlist === undefined ? argumentsOf(scope) : loopValues(walk, node.wordlist, scope);
  if (scope.shell.defined.namerefs.has(name)) {
    const reason = `the loop changes the target of the reference ${name}, which is not allowed under an allow list`;
    walk.problems.push({ scope: 'finite', rule: 'unknown_variable', reason, ...spanOf(node.name, scope) });
  }
  if (hasManyRounds(node)) judgeEndless(walk, node.body, scope);
  return walkLoop(walk, scope, [name], (inner) => {
    walk.assign(
      name,
      { kind: 'text', values: node.type === 'Select' ? [...values, ['']] : values },
      spanOf(node.name, inner),
      inner,
    );
    if (node.type === 'Select') walk.assign('REPLY', textRead(inner), spanOf(node.name, inner), inner);
    const body = conditional(inner);
    return walk.body(node.body, hasSeveralRounds(node) ? body.with({ repeats: body.repeats + 1 }) : body);
  });
}

/** Walks `while` and `until`. */
export function walkWhile(walk: Walk, node: While, scope: WalkScope): Output {
  const endless = isEndless(node, scope);
  if (endless) judgeEndless(walk, node.body, scope);
  return walkLoop(walk, scope, [], (inner) => {
    const tested = walk.body(node.clause, inner);
    return joinOutput(tested, walk.body(node.body, endless ? inner : conditional(inner)));
  });
}

/** Walks `for ((…))`. */
export function walkArithmeticFor(walk: Walk, node: ArithmeticFor, scope: WalkScope): Output {
  if (countsFar(node)) judgeEndless(walk, node.body, scope);
  return walkLoop(walk, scope, [], (inner) => {
    const place = inner.at(node);
    for (const part of [node.initialize, node.test, node.update]) walk.arithmetic(part, '', place);
    return walk.body(node.body, inner);
  });
}

/** Walks a loop body, and again if it changed variables, with the values that the first round may have left. */
function walkLoop(
  walk: Walk,
  scope: WalkScope,
  own: readonly string[],
  body: (inner: WalkScope) => Output,
): Output {
  const inner = scope.copy();
  inner.loops = scope.loops + 1;
  const before = scope.shell.clone();
  walk.spend(24 + before.variables.size / 4);
  if (inner.loops > limits.loops) addUnknown(scope.shell, [...before.variables.keys()]);
  const first = body(inner);
  const changed = scope.shell
    .changedSince(before)
    .filter((name) => !own.includes(name) && mayRevealMore(scope.shell, before, name));
  // `while …; do f "$1"; shift; done` has other arguments in each round.
  const isShifted = scope.shell.positional !== before.positional;
  scope.shell.merge(before);
  let second = first;
  if ((changed.length > 0 || isShifted) && inner.loops <= limits.loops) {
    addUnknown(scope.shell, changed);
    second = body(inner.with({ secondRound: true }));
    scope.shell.merge(before);
  }
  before.release();
  return possibleOutput(second === first ? [first] : [first, second]);
}

/** The values of `for x`, which loops over the arguments. */
function argumentsOf({ shell }: WalkScope): readonly Value[] {
  const positional = shell.positional ?? shell.spread;
  if (positional === undefined) return [[shell.anyArgument]];
  return positional.length === 0 ? [[outside]] : bounded(positional.map(({ pieces }) => pieces));
}

/** Any line of stdin. */
function textRead({ stdin }: WalkScope): Variable {
  return stdin === 'none'
    ? unknownVariable
    : { kind: 'text', values: [[derivedHole([stdin.text, stdin.from ?? ''])]] };
}

function loopValues(walk: Walk, words: readonly Word[], scope: WalkScope): readonly Value[] {
  const values = new Map<string, Value>();
  for (const word of words) {
    for (const form of expandWord(walk, scope, word))
      for (const field of form) values.set(field.text ?? valueKey(field.pieces), field.pieces);
  }
  return bounded([...values.values()]);
}

/** Returns false if a variable was unknown `before` and still is; another round could then reveal nothing new. */
function mayRevealMore(shell: Shell, before: Shell, name: string): boolean {
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

function addUnknown(shell: Shell, names: readonly string[]): void {
  for (const name of names) {
    const variable = shell.variables.get(name);
    if (variable !== undefined) shell.variables.set(name, union(variable, unknownVariable));
  }
}
