// Loads the state of a persistent shell into the walk (P13):
// 1. variables with their attributes (`declare -x`, `-i`, `-n`, …) and arrays;
// 2. aliases and functions, which are judged where the command uses them;
// 3. anything that changes what names mean (a changed PATH, shell options, redefined builtins), which a list refuses.
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
import { everyVariable } from './words/every-variable.ts';
import { limits } from './words/limits.ts';
import { hiddenGlobOptions, parsingOptions } from './words/parsing-options.ts';

const nowhere = { pos: 0, end: 0 };

/** Copies the session's variables, arrays, aliases and functions into the shell of the walk. */
export function enterSession(walk: Walk, session: SessionFacts, scope: WalkScope): void {
  const { shell } = scope;
  const { cwd } = shell;
  const { state, literals } = stateOf(session);
  shell.replaceWith(state);
  if (literals !== '') walk.literals.note(literals);
  shell.positional = undefined;
  shell.cwd = cwd;
  for (const text of session.arrays) readArray(walk, text, scope);
  for (const [name, text] of Object.entries(session.aliases)) shell.define().aliases.set(name, text);
  for (const [name, text] of Object.entries(session.functions)) defineFromText(walk, name, text, scope);
  walk.matchesHidden =
    session.options.some((name) => hiddenGlobOptions.has(name)) ||
    (session.variables?.GLOBIGNORE ?? '') !== '';
  if (session.options.includes('allexport')) shell.define().exported.add(everyVariable);
  for (const name of session.exportedFunctions) shell.define().exportedFunctions.add(name);
  for (const reason of unknownNames(session)) {
    const hint = 'Start a new session.';
    walk.problems.push({ scope: 'finite', ...reason, hint, ...nowhere });
  }
}

// Most commands leave the shell unchanged, so the next one is judged with the same `SessionFacts` object.
const statesByFacts = new WeakMap<SessionFacts, SessionState>();

/** The variables of a session, and those of their texts that bash could evaluate again. */
interface SessionState {
  readonly state: Shell;
  readonly literals: string;
}

function stateOf(session: SessionFacts): SessionState {
  const found = statesByFacts.get(session);
  if (found !== undefined) return found;
  const shell = new Shell();
  const { attributes, variables = {} } = session;
  for (const [name, letters] of Object.entries(attributes)) setAttributes(name, letters, shell);
  for (const [name, value] of Object.entries(variables)) setValue(name, value, attributes[name] ?? '', shell);
  const literals = Object.values(variables).filter(mayExpand).join(' ');
  const made = { state: shell.freeze(), literals };
  statesByFacts.set(session, made);
  return made;
}

function setAttributes(name: string, letters: string, shell: Shell): void {
  const defined = shell.define();
  if (letters.includes('x')) defined.exported.add(name);
  if (letters.includes('r')) defined.readonly.add(name);
  if (letters.includes('i')) defined.integers.add(name);
  if (/[luc]/.test(letters)) defined.recased.add(name);
  if (letters.includes('n')) defined.namerefs.set(name, unknownTarget);
}

function setValue(name: string, value: string, letters: string, shell: Shell): void {
  if (!letters.includes('n')) shell.variables.set(name, { kind: 'text', values: [[value]] });
  else if (/^[A-Za-z_]\w*$/.test(value)) shell.define().namerefs.set(name, value);
}

/** Reads an array as `declare -p` printed it; problems in existing values are not the command's, so they are dropped. */
function readArray(walk: Walk, text: string, scope: WalkScope): void {
  const name = /^declare -\S+ (\w+)/.exec(text)?.[1];
  if (name !== undefined) scope.shell.variables.set(name, unknownVariable);
  if (text.length > limits.sessionArray) return;
  const problems = walk.problems.length;
  const invocations = walk.invocations.length;
  walk.text(text, nowhere, scope);
  walk.problems.length = problems;
  walk.invocations.length = invocations;
}

/** Defines a session function; if its text does not parse, the name becomes an alias for an unknown program. */
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
  // `called` keeps judgeRest() from judging a session function that the command does not use.
  const noted = walk.deferred.at(-1);
  if (noted !== undefined) noted.tracker.called = true;
}

const reserved = new Set(
  'if then elif else fi for while until do done case in esac select function time coproc { } ! [['.split(' '),
);

function unknownNames(session: SessionFacts): { rule: string; reason: string }[] {
  const { functions, aliases, options, arrays } = session;
  const option = options.find((name) => parsingOptions.has(name));
  const redefined =
    Object.keys(functions).find((name) => stateBuiltins.has(name) || name === calledByBash) ??
    Object.keys(aliases).find((name) => stateBuiltins.has(name) || reserved.has(name));
  const long = arrays.some((text) => text.length > limits.sessionArray && mayExpand(text));
  const found = [
    ['session_path', !session.pathUnchanged, 'has changed where bash finds programs'],
    [
      'session_options',
      option !== undefined,
      `has set the option ${option}, which changes how bash reads commands`,
    ],
    ['redefined', redefined !== undefined, `has redefined ${redefined}, which nacre relies on`],
    ['session_array', long, 'has an array that is too long to check'],
  ] as const;
  return found.flatMap(([rule, applies, what]) =>
    applies
      ? [{ rule, reason: `this session ${what}, so running programs is not allowed under an allow list` }]
      : [],
  );
}
