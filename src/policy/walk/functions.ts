import type { Function as FunctionNode } from 'unbash';
import { type Arg, mayExpand } from '../words/arg.ts';
import { anyOutput, type Output, possibleOutput, silent } from '../words/output.ts';
import { judgeNewName } from './redefine.ts';
import { refuseInSh } from './refuse-in-sh.ts';
import { type CallSite, type Frame, spanOf, type WalkScope } from './scope.ts';
import type { FunctionBody, ShellFunction } from './shell.ts';
import { union, unknownVariable } from './variable.ts';
import type { Walk } from './walk.ts';

/** Records a function; its body is judged where it is called, or in `judgeRest` if it never is. */
export function defineFunction(walk: Walk, node: FunctionNode, scope: WalkScope): Output {
  const name = node.name.value;
  // A shell without this keyword runs the body where it is defined.
  if (node.name.pos > node.pos) refuseInSh(walk, node, 'function', scope);
  const body: FunctionBody = { node: node.body, within: scope.within, tracker: { called: false } };
  const definition: ShellFunction = { name, bodies: [body], certain: true };
  scope.shell.define().functions.set(name, definition);
  judgeNewName(walk, name, spanOf(node.name, scope), scope);
  const { shell } = scope;
  walk.deferred.push({
    tracker: body.tracker,
    judge: () => callFunction(walk, definition, undefined, scope.with({ shell: shell.clone() })),
  });
  return silent;
}

/** Walks a function body with the arguments of a call; `undefined` means unknown arguments. */
export function callFunction(
  walk: Walk,
  called: ShellFunction,
  args: readonly Arg[] | undefined,
  scope: WalkScope,
): Output {
  walk.spend(2);
  const running = callsOf(called, scope);
  if (running.length === 1 && !scope.secondRound) recordRecursion(running, scope);
  if (running.length > 0) evaluateArguments(walk, args ?? [], scope);
  if (running.some((frame) => frame.general)) return anyOutput;
  // The first recursive call is walked with its own arguments, the next one with unknown arguments.
  const general = args === undefined || running.length > 1;
  const frame: Frame = {
    name: called.name,
    bodies: called.bodies,
    general,
    locals: new Map(),
    leaks: new Set(),
    recursions: [],
    site: siteOf(scope),
  };
  const output = called.bodies.map((body) =>
    walkBodyOf(walk, body, general ? undefined : args, frame, scope),
  );
  if (running.length === 0) judgeRecursion(walk, called, frame);
  const [only] = output;
  return output.length === 1 && only !== undefined ? only : possibleOutput(output);
}

/** Returns the active calls of a function; in parent shells, only calls of the same exported function. */
function callsOf({ name, bodies }: ShellFunction, { outerFrames, frames }: WalkScope): readonly Frame[] {
  const here = frames.filter((frame) => frame.name === name);
  if (outerFrames.length === 0) return here;
  return [...outerFrames.filter((frame) => bodies.some((body) => frame.bodies.includes(body))), ...here];
}

function walkBodyOf(
  walk: Walk,
  body: FunctionBody,
  args: readonly Arg[] | undefined,
  frame: Frame,
  scope: WalkScope,
): Output {
  body.tracker.called = true;
  const { shell } = scope;
  const { positional, spread, anyArgument } = shell;
  shell.setArguments(args);
  const inner = scope.copy();
  inner.within = body.within;
  inner.frames = [...scope.frames, frame];
  inner.secondRound = false;
  inner.conditional = false;
  inner.forked = false;
  inner.background = false;
  inner.pipeline = 0;
  const output = body.node.type === 'CompoundList' ? anyOutput : walk.node(body.node, inner);
  shell.positional = positional;
  shell.spread = spread;
  shell.anyArgument = anyArgument;
  restoreLocals(scope, frame);
  return output;
}

/** Deeper recursive calls are not walked, so arguments that arithmetic could evaluate there are evaluated here. */
function evaluateArguments(walk: Walk, args: readonly Arg[], scope: WalkScope): void {
  for (const arg of args) {
    if (arg.text !== undefined && mayExpand(arg.text)) walk.evaluate(arg.text, 'arithmetic', arg, scope);
  }
}

function restoreLocals({ shell }: WalkScope, frame: Frame): void {
  for (const [name, before] of frame.locals) {
    if (shell.defined.associative.has(name)) shell.define().associative.set(name, false);
    const now = frame.leaks.has(name) ? shell.variables.get(name) : undefined;
    if (now !== undefined) shell.variables.set(name, union(before ?? unknownVariable, now));
    else if (before === undefined) shell.variables.delete(name);
    else shell.variables.set(name, before);
  }
}

function siteOf({ conditional, forked, background, pipeline, repeats }: WalkScope): CallSite {
  return { conditional, forked, background, pipeline, repeats };
}

/** Records how an active function calls itself, combining the call sites on the way. */
function recordRecursion([first]: readonly Frame[], scope: WalkScope): void {
  if (first === undefined) return;
  const calls = [...scope.outerFrames, ...scope.frames];
  const between = calls.slice(calls.indexOf(first) + 1).map((frame) => frame.site);
  const site = [...between, siteOf(scope)].reduce((one, other) => ({
    conditional: one.conditional || other.conditional,
    forked: one.forked || other.forked,
    background: one.background || other.background,
    pipeline: one.pipeline || other.pipeline,
    repeats: Math.max(one.repeats, other.repeats),
  }));
  first.recursions.push(site);
  if (site.repeats > first.site.repeats) first.recursions.push({ ...site, pipeline: 0 });
}

/** Reports a function as a fork bomb if its recursive calls can only multiply. */
function judgeRecursion(walk: Walk, called: ShellFunction, frame: Frame): void {
  const forked = frame.recursions.filter((one) => one.forked);
  const unconditional = forked.some((one) => !one.conditional);
  const sharing = forked.some((one, index) =>
    forked.some((other, at) => at !== index && one.pipeline > 0 && one.pipeline === other.pipeline),
  );
  const background = forked.length > 1 && forked.some((one) => one.background);
  if (!unconditional && !sharing && !background) return;
  const [body] = called.bodies;
  const span = body === undefined ? { pos: 0, end: 0 } : spanOf(body.node, body);
  const reason = `the function ${called.name} starts copies of itself without end (a fork bomb)`;
  walk.problems.push({ scope: 'danger', rule: 'fork_bomb', reason, program: called.name, ...span });
}
