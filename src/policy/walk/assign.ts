import { textOf, toArg, type Value } from '../words/arg.ts';
import { isBashInteger } from '../words/bash-integers.ts';
import { editorLine } from '../words/editor-line.ts';
import { codeVariable, mayChooseCode } from '../words/environment.ts';
import { everyVariable } from '../words/every-variable.ts';
import { isSetByBash } from '../words/set-by-bash.ts';
import type { Definitions, Shell } from './shell.ts';
import { bounded, everyValue, union, unknownVariable, type Variable } from './variable.ts';
import type { Walk, WalkSite } from './walk.ts';

/** Assigns a variable and judges what follows: code it chooses (PATH), arithmetic (`declare -i`), namerefs (`declare -n`). */
export function assignVariable(
  site: WalkSite,
  writtenName: string,
  variable: Variable,
  how: 'plain' | 'exported' = 'plain',
): void {
  const { walk } = site;
  const { shell } = site.scope;
  walk.spend(1);
  const marked = shell.defined.hasMarked ? shell.defined : undefined;
  const name = marked?.namerefs.get(writtenName) ?? writtenName;
  if (name === unknownTarget) {
    forgetAll(site, writtenName);
    return;
  }
  const values = everyValue(variable);
  walk.spend(values.length);
  const exported = how === 'exported' || isExported(shell.defined, name);
  // Most variables are data with any value.
  if (mayChooseCode(name, exported) || marked?.integers.has(name) || isBashInteger(name)) {
    for (const value of values) judgeValue(site, name, value, exported);
    if (values.length === 0) judgeValue(site, name, [''], exported);
  }
  const limited = withinBounds(variable);
  walk.assigned.push([name, limited]);
  shell.variables.set(name, possibleValues(walk, name, limited, shell, marked));
  if (how === 'exported') shell.define().exported.add(name);
  // Bash assigns it to `$0`, too.
  if (name === 'BASH_ARGV0') shell.arg0 = undefined;
  // Bash also sets dotglob.
  if (name === 'GLOBIGNORE') walk.matchesHidden = true;
}

/** Returns true if bash evaluates what is assigned to the variable as arithmetic. */
export function isInteger(writtenName: string, { defined }: Shell): boolean {
  const name = defined.namerefs.get(writtenName) ?? writtenName;
  return defined.integers.has(name) || isBashInteger(name);
}

function withinBounds(variable: Variable): Variable {
  if (variable.kind !== 'text') return variable;
  const values = bounded(variable.values);
  return values === variable.values ? variable : { kind: 'text', values };
}

function possibleValues(
  walk: Walk,
  name: string,
  given: Variable,
  shell: Shell,
  marked: Definitions | undefined,
): Variable {
  if (walk.volatile.has(name) || isSetByBash(name) || marked?.recased.has(name))
    return union(given, unknownVariable);
  // Assigning to a readonly variable fails; only its first assignment takes effect.
  const current = marked?.readonly.has(name) ? shell.variables.get(name) : undefined;
  return current === undefined ? given : union(current, given);
}

/** Target of a nameref that points to an unknown variable. */
export const unknownTarget = '';

/** Assigning through an unknown nameref may change any variable. */
function forgetAll({ walk, scope: { shell }, span }: WalkSite, writtenName: string): void {
  for (const each of shell.variables.keys()) shell.variables.set(each, unknownVariable);
  const reason = `which variable the reference ${writtenName} points to cannot be known, which is not allowed`;
  walk.problems.push({ scope: 'finite', rule: 'unknown_variable', reason, program: writtenName, ...span });
}

function judgeValue({ walk, scope, span }: WalkSite, name: string, given: Value, exported: boolean): void {
  const value = textOf(given);
  if (isBashInteger(name)) judgeBashInteger({ walk, scope, span }, name, given);
  else if (scope.shell.defined.integers.has(name)) walk.evaluate(given, 'arithmetic', span, scope);
  const code = codeVariable(name, value, exported);
  if (code === undefined) return;
  if (code.kind !== 'refuse' && value !== undefined) {
    const shell = scope.shell.child();
    const line = code.kind === 'editor' ? editorLine(value, code.forLists) : value + code.rest;
    walk.runText(toArg([line], span), scope.with({ shell, via: name }));
    return;
  }
  judgeStartCode({ walk, scope, span }, name, given);
  const reason = `setting ${name} is not allowed, because it chooses which code runs`;
  const hint = `Run the command without ${name}.`;
  walk.problems.push({ scope: 'finite', rule: 'environment', reason, hint, program: name, ...span });
}

/** Judges text that bash runs from a variable: a list refuses it anyway, but it may be dangerous under `*`, too. */
function judgeStartCode({ walk, scope, span }: WalkSite, name: string, given: Value): void {
  if (!startCode.test(name)) return;
  const inner = scope.with({ shell: scope.shell.child(), via: name });
  const [first] = given;
  if (name === 'PROMPT_COMMAND') walk.runText(toArg(given, span), inner);
  else if (typeof first === 'object' && first.hole === 'process' && first.output !== undefined)
    walk.text(first.output, span, inner);
  else walk.evaluate(given, 'prompt', span, inner);
}

const startCode = /^(?:PROMPT_COMMAND|PS[0-4]|BASH_ENV|ENV)$/;

/** Judges a variable that is exported after it was assigned. */
export function judgeExport(site: WalkSite, name: string): void {
  const variable = site.scope.shell.variables.get(name);
  if (variable === undefined || !mayChooseCode(name, true)) return;
  for (const value of everyValue(variable)) judgeValue(site, name, value, true);
}

function isExported({ exported }: Definitions, name: string): boolean {
  return exported.size > 0 && (exported.has(name) || exported.has(everyVariable));
}

/** Bash evaluates what it assigns to these variables, so a list refuses text that is not known to be an expression. */
function judgeBashInteger({ walk, scope, span }: WalkSite, name: string, given: Value): void {
  walk.evaluate(given, 'arithmetic', span, scope);
  if (given.every((piece) => typeof piece === 'string' || piece.hole === 'number')) return;
  const reason = `setting ${name} to unknown text is not allowed, because bash evaluates it as arithmetic`;
  walk.problems.push({ scope: 'finite', rule: 'unknown_text', reason, program: name, ...span });
}
