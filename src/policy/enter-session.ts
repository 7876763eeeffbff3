// What a persistent shell has become (P13):
// 1. its variables, with the attributes by which assigning or exporting them does more, and its arrays;
// 2. its aliases and functions, judged where the command uses them;
// 3. what makes names unknown there: another PATH, options, builtins that were redefined. A list refuses those.
import type { SessionFacts } from '../contract/facts.ts';
import { unknownTarget } from './walk/assign.ts';
import { defineFunction } from './walk/functions.ts';
import { parseScript } from './walk/parse-script.ts';
import { calledByBash, stateBuiltins } from './walk/redefine.ts';
import type { WalkScope } from './walk/scope.ts';
import { Shell } from './walk/shell.ts';
import { unknownVariable } from './walk/variable.ts';
import type { Walk } from './walk/walk.ts';
import { mayExpand } from './words/arg.ts';
import { limits } from './words/limits.ts';
import { readingOptions } from './words/reading-options.ts';

const nowhere = { pos: 0, end: 0 };

/** Gives the shell of a walk what the session's shell has. */
export function enterSession(walk: Walk, session: SessionFacts, scope: WalkScope): void {
  const { shell } = scope;
  const { cwd } = shell;
  shell.become(toVariables(session));
  shell.positional = undefined;
  shell.cwd = cwd;
  for (const text of session.arrays) giveArray(walk, text, scope);
  for (const [name, text] of Object.entries(session.aliases)) shell.define().aliases.set(name, text);
  for (const [name, text] of Object.entries(session.functions)) defineFromText(walk, name, text, scope);
  for (const name of session.exportedFunctions) shell.define().exportedFunctions.add(name);
  for (const reason of unknownNames(session)) {
    const hint = 'Use a new session.';
    walk.problems.push({ scope: 'finite', ...reason, hint, ...nowhere });
  }
}

// Most commands leave their shell as it was, and the next one is judged by the same facts.
const known = new WeakMap<SessionFacts, Shell>();

function toVariables(session: SessionFacts): Shell {
  const found = known.get(session);
  if (found !== undefined) return found;
  const shell = new Shell();
  const { attributes, variables = {} } = session;
  for (const [name, letters] of Object.entries(attributes)) giveAttributes(name, letters, shell);
  for (const [name, value] of Object.entries(variables))
    giveValue(name, value, attributes[name] ?? '', shell);
  known.set(session, shell.keep());
  return shell;
}

function giveAttributes(name: string, letters: string, shell: Shell): void {
  const defined = shell.define();
  if (letters.includes('x')) defined.exported.add(name);
  if (letters.includes('r')) defined.readonly.add(name);
  if (letters.includes('i')) defined.integers.add(name);
  if (/[luc]/.test(letters)) defined.recased.add(name);
  if (letters.includes('n')) defined.namerefs.set(name, unknownTarget);
}

function giveValue(name: string, value: string, letters: string, shell: Shell): void {
  if (!letters.includes('n')) shell.variables.set(name, { kind: 'text', values: [[value]] });
  else if (/^[A-Za-z_]\w*$/.test(value)) shell.define().namerefs.set(name, value);
}

/** Reads an array as bash wrote it; what is there already is not held against the command. */
function giveArray(walk: Walk, text: string, scope: WalkScope): void {
  const name = /^declare -\S+ (\w+)/.exec(text)?.[1];
  if (name !== undefined) scope.shell.variables.set(name, unknownVariable);
  if (text.length > limits.sessionArray) return;
  const problems = walk.problems.length;
  const invocations = walk.invocations.length;
  walk.text(text, nowhere, scope);
  walk.problems.length = problems;
  walk.invocations.length = invocations;
}

/** A function of the session: a body that does not parse makes every use of the name a name nobody knows. */
function defineFromText(walk: Walk, name: string, text: string, scope: WalkScope): void {
  const script = parseScript(text);
  const node = script.commands[0]?.command;
  if (script.errors?.length || node?.type !== 'Function') {
    scope.shell.define().aliases.set(name, '"$unknown_word"');
    return;
  }
  const problems = walk.problems.length;
  defineFunction(walk, node, scope.with({ within: nowhere }));
  walk.problems.length = problems;
  // The session's functions are only judged when the command uses them.
  const noted = walk.functions.at(-1);
  if (noted !== undefined) noted.tracker.called = true;
}

const reserved = new Set(
  'if then elif else fi for while until do done case in esac select function time coproc { } ! [['.split(' '),
);

function unknownNames(session: SessionFacts): { rule: string; reason: string }[] {
  const { functions, aliases, options, arrays } = session;
  const option = options.find((name) => readingOptions.has(name));
  const redefined =
    Object.keys(functions).find((name) => stateBuiltins.has(name) || name === calledByBash) ??
    Object.keys(aliases).find((name) => stateBuiltins.has(name) || reserved.has(name));
  const long = arrays.some((text) => text.length > limits.sessionArray && mayExpand(text));
  const found = [
    ['session_path', !session.pathUnchanged, 'has changed where programs are found'],
    ['session_options', option !== undefined, `has set ${option}, which changes what text means`],
    ['redefined', redefined !== undefined, `has redefined ${redefined}, on which it relies`],
    ['session_array', long, 'holds an array that is too long to be looked through'],
  ] as const;
  return found.flatMap(([rule, holds, what]) =>
    holds ? [{ rule, reason: `this session ${what}, so running programs is not allowed under a list` }] : [],
  );
}
