// What a command would do, as far as it can be known:
// 1. the shell it begins with is built from the facts: directory, home, a session's functions and aliases;
// 2. variables that the caller sets are judged like assignments;
// 3. the tree (or the argv) is walked, see walk/create-walk.ts;
// 4. a limit or anything unforeseen becomes a problem that refuses under every list.
import type { Facts } from '../contract/facts.ts';
import type { Survey } from './survey.ts';
import type { Plan } from './understand.ts';
import { knownArg } from './walk/arg.ts';
import { createWalk, freshShell, judgeUncalled } from './walk/create-walk.ts';
import { defineFunction } from './walk/functions.ts';
import { LimitReached } from './walk/limits.ts';
import { parseScript } from './walk/parse-script.ts';
import { Scope } from './walk/scope.ts';
import type { Shell } from './walk/shell.ts';
import { anyOutput, type Stdin, type Walk } from './walk/walk.ts';

/** The facts that the walk needs; without them the directory is unknown. */
export type SurveyFacts = Pick<Facts, 'home' | 'session'> & { readonly cwd: string | undefined };

/** Walks a command and lists the programs it would start and what speaks against it. */
export function surveyCommand(plan: Plan, facts: SurveyFacts): Survey {
  const walk = walkOnce(plan, facts, new Set());
  // What traps change is known at the end only, and counts from the beginning.
  return walk.volatile.size === 0 ? walk : walkOnce(plan, facts, walk.volatile);
}

function walkOnce(plan: Plan, facts: SurveyFacts, volatile: ReadonlySet<string>): Walk {
  const length = plan.command.kind === 'shell' ? plan.command.script.length : 0;
  const walk = createWalk(facts.home, length, volatile);
  try {
    walkPlan(walk, plan, facts);
    judgeUncalled(walk);
  } catch (error) {
    walk.problems.unshift({ scope: 'always', ...explain(error), pos: 0, end: 0 });
  }
  return walk;
}

/** Whatever stops the walk refuses the command: a limit never opens, and neither does a mistake of our own. */
function explain(error: unknown): { rule: string; reason: string } {
  const limit =
    error instanceof LimitReached
      ? error.message
      : error instanceof RangeError
        ? 'it is nested too deeply'
        : undefined;
  if (limit === undefined)
    return { rule: 'not_understood', reason: 'The command is not allowed, because it was not understood.' };
  return {
    rule: 'too_large',
    reason: `The command is not allowed, because it is more than can be looked through: ${limit}.`,
  };
}

function walkPlan(walk: Walk, { command, surroundings, script }: Plan, facts: SurveyFacts): void {
  const shell = freshShell(facts.session?.cwd ?? facts.cwd);
  const scope = new Scope(shell, stdinOf(surroundings.stdin));
  const nowhere = { pos: 0, end: 0 };
  for (const [name, value] of Object.entries(surroundings.env ?? {})) {
    walk.assign(name, { kind: 'text', values: [[value]] }, nowhere, scope, 'exported');
  }
  if (facts.session !== undefined) enterSession(walk, shell, facts.session, scope);
  if (command.kind === 'shell') {
    if (script !== undefined) walk.script(script, scope);
  } else {
    const spans = argvSpans(command.argv);
    const argv = command.argv.map((word, index) => knownArg(word, spans[index] ?? nowhere));
    walk.run(argv, scope, { by: 'program' });
  }
}

function stdinOf(stdin: Plan['surroundings']['stdin']): Stdin {
  if (stdin?.kind === 'text') return { text: stdin.text, more: false };
  return stdin?.kind === 'none' ? 'none' : anyOutput;
}

/** Positions in the argv as it is shown: the words with a blank between. */
function argvSpans(argv: readonly string[]): { pos: number; end: number }[] {
  let pos = 0;
  return argv.map((word) => {
    const span = { pos, end: pos + word.length };
    pos = span.end + 1;
    return span;
  });
}

function enterSession(walk: Walk, shell: Shell, session: NonNullable<Facts['session']>, scope: Scope): void {
  shell.positional = undefined;
  for (const [name, value] of Object.entries(session.variables ?? {}))
    shell.variables.set(name, { kind: 'text', values: [[value]] });
  for (const [name, text] of Object.entries(session.aliases)) shell.define().aliases.set(name, text);
  for (const [name, text] of Object.entries(session.functions)) defineFromText(walk, name, text, scope);
  if (!session.pathUnchanged) {
    const reason =
      'This session has changed where programs are found, so no program is allowed under a list.';
    const hint = 'Use a new session.';
    walk.problems.push({ scope: 'finite', rule: 'session_path', reason, hint, pos: 0, end: 0 });
  }
}

/** A function of the session: a body that does not parse makes every use of the name a name nobody knows. */
function defineFromText(walk: Walk, name: string, text: string, scope: Scope): void {
  const script = parseScript(text);
  const node = script.commands[0]?.command;
  if (script.errors?.length || node?.type !== 'Function') {
    scope.shell.define().aliases.set(name, '"$unknown_word"');
    return;
  }
  defineFunction(walk, node, scope.with({ within: { pos: 0, end: 0 } }));
  // The session's functions are only judged when the command uses them.
  const noted = walk.functions.at(-1);
  if (noted !== undefined) noted.tracker.called = true;
}
