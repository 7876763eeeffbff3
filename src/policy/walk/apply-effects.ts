import { isEssentialFile } from '../danger/protected-places.ts';
import type { ProgramCall } from '../options/program-call.ts';
import type { Effect, VariableAttributes } from '../programs/program.ts';
import { type Arg, type Piece, textOf, unknown, wordText } from '../words/arg.ts';
import { anyOutput, joinOutput, type Output, placeListed, silent } from '../words/output.ts';
import { isInteger, judgeExport, unknownTarget } from './assign.ts';
import { changeDirectory } from './change-directory.ts';
import { judgeDisguised } from './disguised-text.ts';
import { recordFile } from './judge-write.ts';
import { keepDanger } from './keep-danger.ts';
import { judgeNewName } from './redefine.ts';
import type { WalkScope } from './scope.ts';
import { eitherPlaces, placesOf, type Shell } from './shell.ts';
import { derivedHole, everyValue, union, unknownVariable, type Variable } from './variable.ts';
import type { Walk } from './walk.ts';
import { endOfIdentifier } from './word-shape.ts';

/** Applies a program's effects: programs it starts, shell text, files, changes to the shell. Returns their output. */
export function applyEffects(
  walk: Walk,
  effects: readonly Effect[],
  call: ProgramCall,
  scope: WalkScope,
): Output {
  let output = silent;
  for (const effect of effects) output = joinOutput(output, applyEffect(walk, effect, call, scope));
  return output;
}

function applyEffect(walk: Walk, effect: Effect, call: ProgramCall, scope: WalkScope): Output {
  walk.spend(1);
  switch (effect.does) {
    case 'start':
      return startProgram(walk, effect, call, scope);
    case 'shell':
      return runInChildShell(walk, effect, call, scope);
    case 'eval':
      return evalHere(walk, effect, call, scope);
    case 'perhaps':
      findDanger(walk, effect, call, scope);
      break;
    case 'unknown':
      report(
        walk,
        call,
        effect.at,
        'unknown_text',
        `${effect.reason}, which is not allowed under an allow list`,
      );
      if (effect.own !== undefined) judgeDisguised(walk, effect.own, call.name, effect.at);
      break;
    case 'refuse':
      report(
        walk,
        call,
        effect.at,
        effect.rule ?? 'runs_code',
        `${effect.reason}, which is not allowed under an allow list`,
      );
      break;
    case 'danger':
      walk.problems.push({
        scope: 'danger',
        rule: effect.rule,
        reason: effect.reason,
        program: call.name,
        pos: effect.at.pos,
        end: effect.at.end,
      });
      break;
    case 'note':
      walk.problems.push({
        scope: 'note',
        rule: 'code_not_judged',
        reason: effect.reason,
        program: call.name,
        pos: effect.at.pos,
        end: effect.at.end,
      });
      break;
    case 'matchHidden':
      walk.matchesHidden = true;
      break;
    case 'write':
      judgeReplacing(walk, effect.path, call);
      walk.write(effect.path, call.name, scope);
      if (effect.contents !== undefined)
        recordFile(walk, effect.path, scope.conditional ? anyOutput : effect.contents, scope);
      break;
    default:
      changeShell(walk, effect, call, scope);
      break;
  }
  return silent;
}

/** Programs whose output replaces a file. Programs that edit or copy files are judged by `essentialFileRules`. */
const replacing = new Set('sort curl wget find openssl awk gawk mawk tar zip gcc ffmpeg'.split(' '));

function judgeReplacing(walk: Walk, path: Arg, { name }: ProgramCall): void {
  if (!replacing.has(name) || !isEssentialFile(path)) return;
  const reason = `it replaces ${path.text}`;
  const { pos, end } = path;
  walk.problems.push({ scope: 'danger', rule: 'essential_file', reason, program: name, pos, end });
}

type ShellChange = Exclude<
  Effect,
  {
    does:
      | 'start'
      | 'shell'
      | 'perhaps'
      | 'eval'
      | 'unknown'
      | 'refuse'
      | 'danger'
      | 'write'
      | 'note'
      | 'matchHidden';
  }
>;

function changeShell(walk: Walk, effect: ShellChange, call: ProgramCall, scope: WalkScope): void {
  const { shell } = scope;
  switch (effect.does) {
    case 'assign':
      assign(walk, effect, call, scope);
      break;
    case 'mark':
      setAttributes(walk, effect.name, undefined, effect.attributes, scope);
      if (effect.attributes.integer) evaluateEntries(walk, effect.name, call.self, scope);
      if (effect.attributes.exported) exportVariable(walk, effect.name, call.self, scope);
      break;
    case 'unset':
      unset(walk, effect.name, effect.what, call, scope);
      break;
    case 'exportFunction':
      if (effect.name.text !== undefined) shell.define().exportedFunctions.add(effect.name.text);
      break;
    case 'evaluate':
      walk.evaluate(effect.text.pieces, effect.as, effect.text, scope);
      break;
    case 'chdir':
      if (call.name === 'pushd') shell.stacked = eitherPlaces(shell.stacked, placesOf(shell));
      changeDirectory(walk, shell, effect.path, effect.back);
      break;
    case 'alias':
      defineAlias(walk, effect.name, effect.text, call, scope);
      break;
    case 'positional':
      setPositional(shell, effect.args);
  }
}

/** `declare -ia x=(…)` evaluates the entries, which are assigned before the attribute is set here. */
function evaluateEntries(walk: Walk, name: string, span: Arg, scope: WalkScope): void {
  const variable = scope.shell.variables.get(name);
  if (variable?.kind !== 'list') return;
  for (const value of everyValue(variable)) walk.evaluate(value, 'arithmetic', span, scope);
}

function exportVariable(walk: Walk, name: string, span: Arg, scope: WalkScope): void {
  scope.shell.define().exported.add(name);
  judgeExport({ walk, scope, span }, name);
}

function setPositional(shell: Shell, args: Extract<Effect, { does: 'positional' }>['args']): void {
  if (args === 'shift') shell.positional = shell.positional?.slice(1);
  else if (args !== 'unknown') shell.setArguments(args);
  else shell.setArguments(shell.positional?.map((arg) => ({ ...arg, pieces: arg.pieces, many: true })));
}

function report(walk: Walk, call: ProgramCall, at: Arg, rule: string, reason: string): void {
  walk.problems.push({ scope: 'finite', rule, reason, program: call.name, pos: at.pos, end: at.end });
}

function startProgram(
  walk: Walk,
  effect: Extract<Effect, { does: 'start' }>,
  call: ProgramCall,
  scope: WalkScope,
): Output {
  if (effect.inShell) return walk.run(effect.argv, scope, { by: 'builtin', via: call.name });
  const shell = scope.shell.clone();
  const inner = scope.with({ shell, stdin: effect.stdin ?? scope.stdin });
  setEnvironment(walk, effect.env, inner);
  if (effect.cwd !== undefined) changeDirectory(walk, shell, effect.cwd);
  return walk.run(effect.argv, inner, { by: 'program', via: call.name });
}

function setEnvironment(
  walk: Walk,
  env: readonly (readonly [string, Arg])[] | undefined,
  scope: WalkScope,
): void {
  for (const [name, value] of env ?? []) {
    walk.assign(name, { kind: 'text', values: [value.pieces] }, value, scope, 'exported');
  }
}

function runInChildShell(
  walk: Walk,
  effect: Extract<Effect, { does: 'shell' }>,
  call: ProgramCall,
  scope: WalkScope,
): Output {
  const parent = scope.with({ shell: scope.shell.clone() });
  setEnvironment(walk, effect.env, parent);
  const shell = parent.shell.child();
  const [arg0, ...args] = effect.args ?? [];
  shell.arg0 = arg0?.pieces.length === 1 ? arg0.pieces[0] : undefined;
  shell.setArguments(args);
  shell.posix = !bashStarters.has(call.name);
  const outerFrames = [...scope.outerFrames, ...scope.frames];
  return walk.runText(
    effect.text,
    scope.fork(shell).with({ via: call.name, frames: [], outerFrames, aliases: [] }),
  );
}

/** Programs that run text with bash or the user's login shell; all others run it with `sh`. */
const bashStarters = new Set(
  'bash rbash ssh su runuser sudo doas script screen tmux parallel zsh ksh mksh'.split(' '),
);

/** Walks text and keeps only the danger found in it. */
function findDanger(
  walk: Walk,
  { text, args }: Extract<Effect, { does: 'perhaps' }>,
  call: ProgramCall,
  scope: WalkScope,
): void {
  keepDanger(walk, () => runInChildShell(walk, { does: 'shell', text, ...(args && { args }) }, call, scope));
}

function evalHere(
  walk: Walk,
  effect: Extract<Effect, { does: 'eval' }>,
  call: ProgramCall,
  scope: WalkScope,
): Output {
  const inner = scope.with({ via: call.name });
  if (call.name === 'trap' && scope.lasting && effect.text.text !== '') {
    const reason = 'the trap would run in later commands of this persistent shell';
    report(walk, call, effect.text, 'trap', `${reason}, which is not allowed under an allow list`);
  }
  if (!effect.later) return evalNow(walk, effect, inner);
  walk.deferred.push({ tracker: { called: false }, judge: () => judgeLater(walk, effect, inner) });
  return silent;
}

function evalNow(walk: Walk, { text, args }: Extract<Effect, { does: 'eval' }>, scope: WalkScope): Output {
  const { shell } = scope;
  const before = { args: shell.positional, spread: shell.spread, any: shell.anyArgument };
  if (args !== undefined) shell.setArguments(args);
  const output = walk.runText(text, scope);
  if (args !== undefined) {
    shell.positional = before.args;
    shell.spread = before.spread;
    shell.anyArgument = before.any;
  }
  return output;
}

/** Judges a trap at the end: it sees the final functions and any value a variable had, and may change variables. */
function judgeLater(walk: Walk, { text, later }: Extract<Effect, { does: 'eval' }>, scope: WalkScope): void {
  const { shell } = scope;
  if (later === 'between') walk.spend(walk.assigned.length / 4);
  if (later === 'between')
    for (const [name, variable] of walk.assigned) {
      const last = shell.variables.get(name);
      shell.variables.set(name, last === undefined ? variable : union(variable, last));
    }
  // A trap may have been replaced, so the next one does not see its assignments as certain.
  const after = shell.clone();
  walk.runText(text, scope.with({ shell: after }));
  if (later === 'between') for (const name of after.changedSince(shell)) walk.volatile.add(name);
}

function assign(
  walk: Walk,
  effect: Extract<Effect, { does: 'assign' }>,
  call: ProgramCall,
  scope: WalkScope,
): void {
  const { name: target, value, appended, attributes = {} } = effect;
  const written = target.text;
  if (written === undefined) {
    report(walk, call, target, 'unknown_variable', `which variable ${call.name} would set cannot be known`);
    return;
  }
  walk.evaluate(written, 'name', target, scope);
  const length = endOfIdentifier(written);
  if (length === 0) return;
  const name = written.slice(0, length);
  setAttributes(walk, name, value, attributes, scope);
  if (appended !== undefined && (attributes.integer || isInteger(name, scope.shell)))
    walk.evaluate(appended.pieces, 'arithmetic', target, scope);
  if (attributes.nameref) return;
  const given = givenVariable(effect, name, written, scope);
  // Outside a function `local` fails and leaves the variable unchanged.
  const fails = call.name === 'local' && scope.frames.length === 0;
  const plain = fails ? union(scope.shell.variables.get(name) ?? unknownVariable, given) : given;
  walk.assign(name, plain, target, scope, attributes.exported ? 'exported' : 'plain');
}

function givenVariable(
  effect: Extract<Effect, { does: 'assign' }>,
  name: string,
  written: string,
  { shell }: WalkScope,
): Variable {
  const { value, appended, fromArguments } = effect;
  if (fromArguments) return { kind: 'text', values: [[shell.someArgument()], [optionValue(shell)]] };
  if (appended !== undefined) {
    const before = shell.variables.get(name);
    const old = before === undefined ? [] : everyValue(before).flat();
    return { kind: 'text', values: [[derivedHole([...old, ...appended.pieces])]] };
  }
  return name === written ? variableOf(name, value, effect) : unknownVariable;
}

/** For the danger rules: the path that an option may have as its value, as `-x/` and `-x /` do. */
function optionValue({ positional = [] }: Shell): Piece {
  const paths = positional
    .map((arg) => wordText(arg).replace(/^-\w+/, ''))
    .filter((text) => text.startsWith('/'));
  return paths.length === 0 ? unknown : { ...unknown, from: paths.join(' ') };
}

function variableOf(
  name: string,
  value: Arg | undefined,
  { uncertain, made, operand }: Extract<Effect, { does: 'assign' }>,
): Variable {
  if (uncertain === undefined)
    return value === undefined ? unknownVariable : { kind: 'text', values: [value.pieces] };
  const listed = placeListed(uncertain);
  const other: Piece = { hole: 'unknown', text: `$${name}`, from: uncertain, listed, made, operand };
  return { kind: 'text', values: value === undefined ? [[other]] : [value.pieces, [other]] };
}

function setAttributes(
  walk: Walk,
  name: string,
  value: Arg | undefined,
  attributes: VariableAttributes,
  scope: WalkScope,
): void {
  const { shell, frames } = scope;
  const frame = frames.at(-1);
  if (attributes.local && frame !== undefined && !frame.locals.has(name))
    frame.locals.set(name, shell.variables.get(name));
  if (attributes.global) leak(name, scope);
  if (attributes.readonly) shell.define().readonly.add(name);
  if (attributes.integer) shell.define().integers.add(name);
  if (attributes.recased) shell.define().recased.add(name);
  if (attributes.array !== undefined) setArrayKind(name, attributes, scope);
  if (!attributes.nameref) return;
  if (value === undefined) {
    // The first value assigned to it becomes its target.
    shell.define().namerefs.set(name, unknownTarget);
    return;
  }
  const target = value.text;
  walk.evaluate(target ?? value.pieces, 'name', value, scope);
  const plain = target !== undefined && /^[A-Za-z_]\w*$/.test(target);
  shell.define().namerefs.set(name, plain ? target : unknownTarget);
}

/** Bash cannot turn an indexed array into an associative one, and `declare` in a branch may not run. */
function setArrayKind(name: string, { array, local }: VariableAttributes, scope: WalkScope): void {
  const { shell, conditional, frames } = scope;
  const before = shell.defined.associative.get(name);
  const isNew = before === undefined && (!shell.variables.has(name) || (local === true && frames.length > 0));
  const certain =
    array === 'associative' && !conditional && /^[a-z]\w*$/.test(name) && (isNew || before === true);
  shell.define().associative.set(name, certain);
}

/** Records that the outer variable of a local may change too. */
function leak(name: string, { frames }: WalkScope): void {
  for (const frame of frames) if (frame.locals.has(name)) frame.leaks.add(name);
}

function unset(
  walk: Walk,
  target: Arg,
  what: 'variable' | 'function',
  call: ProgramCall,
  scope: WalkScope,
): void {
  if (target.text === undefined) {
    report(walk, call, target, 'unknown_variable', `which ${what} ${call.name} would remove cannot be known`);
    return;
  }
  walk.evaluate(target.text, 'name', target, scope);
  leak(target.text, scope);
  if (scope.shell.defined.associative.has(target.text))
    scope.shell.define().associative.set(target.text, false);
  const list = target.text.split('[')[0] ?? '';
  if (list !== target.text && scope.shell.variables.has(list))
    scope.shell.variables.set(list, unknownVariable);
  if (what === 'variable' && scope.shell.variables.has(target.text))
    scope.shell.variables.set(target.text, union(nothing, unknownVariable));
  // Without PATH bash searches the working directory for programs.
  if (target.text === 'PATH') walk.assign('PATH', unknownVariable, target, scope);
  if (what === 'function' || !scope.shell.variables.has(target.text)) {
    const found = scope.shell.defined.functions.get(target.text);
    if (found !== undefined) scope.shell.define().functions.set(target.text, { ...found, certain: false });
  }
}

const nothing: Variable = { kind: 'text', values: [['']] };

function defineAlias(walk: Walk, name: string, text: Arg, call: ProgramCall, scope: WalkScope): void {
  const value = textOf(text.pieces);
  judgeNewName(walk, name, text, scope);
  const aliases = [...scope.aliases, name];
  walk.runText(text, scope.with({ shell: scope.shell.clone(), via: call.name, aliases }));
  scope.shell.define().aliases.set(name, value ?? '"$unknown_word"');
}
